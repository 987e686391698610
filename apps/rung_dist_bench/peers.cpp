#include "peers.hpp"

#include <stdexcept>
#include <string>

#include "core/shared_library/shared_library.hpp"

namespace rung::dist_bench {
namespace {

void require(int result, const char* what) {
  if (result != 0) {
    throw std::runtime_error(std::string(what) + " returned " + std::to_string(result));
  }
}

template <class Function>
Function* find(const SharedLibrary& library, const char* name) {
  if (auto* const found = library.find<Function>(name)) return found;
  throw std::runtime_error(std::string("no ") + name + " here (" + library.why_not() + ")");
}

const SharedLibrary& nccl() {
  static const SharedLibrary library("RUNG_NCCL", {"libnccl.so.2"});
  return library;
}

constexpr int nccl_bfloat16 = 9, nccl_sum = 0;

const SharedLibrary& cublas() {
  static const SharedLibrary library("RUNG_CUBLAS", {"libcublas.so.13", "libcublas.so.12"});
  return library;
}

constexpr int cuda_bf16 = 14, cublas_compute_f32 = 68, cublas_default = -1;

}  // namespace

std::vector<void*> make_nccl_comms(int count) {
  std::vector<void*> comms(static_cast<std::size_t>(count));
  static auto* const init = find<int(void**, int, const int*)>(nccl(), "ncclCommInitAll");
  require(init(comms.data(), count, nullptr), "ncclCommInitAll");
  return comms;
}

int nccl_version() {
  int version = 0;
  require(find<int(int*)>(nccl(), "ncclGetVersion")(&version), "ncclGetVersion");
  return version;
}

void nccl_all_gather(const bfloat16* from, bfloat16* to, std::size_t count, void* comm,
                     cuda::Stream stream) {
  using Function = int(const void*, void*, std::size_t, int, void*, cuda::Stream);
  static auto* const function = find<Function>(nccl(), "ncclAllGather");
  require(function(from, to, count, nccl_bfloat16, comm, stream), "ncclAllGather");
}

void nccl_reduce_scatter(const bfloat16* from, bfloat16* to, std::size_t count, void* comm,
                         cuda::Stream stream) {
  using Function = int(const void*, void*, std::size_t, int, int, void*, cuda::Stream);
  static auto* const function = find<Function>(nccl(), "ncclReduceScatter");
  require(function(from, to, count, nccl_bfloat16, nccl_sum, comm, stream), "ncclReduceScatter");
}

void nccl_all_reduce(const bfloat16* from, bfloat16* to, std::size_t count, void* comm,
                     cuda::Stream stream) {
  using Function = int(const void*, void*, std::size_t, int, int, void*, cuda::Stream);
  static auto* const function = find<Function>(nccl(), "ncclAllReduce");
  require(function(from, to, count, nccl_bfloat16, nccl_sum, comm, stream), "ncclAllReduce");
}

Cublas::Cublas() {
  require(find<int(void**)>(cublas(), "cublasCreate_v2")(&handle_), "cublasCreate");
}

int Cublas::version() const {
  int version = 0;
  require(find<int(void*, int*)>(cublas(), "cublasGetVersion_v2")(handle_, &version),
          "cublasGetVersion");
  return version;
}

void Cublas::gemm(const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
                  const MatrixView<bfloat16>& c, cuda::Stream stream) const {
  using SetStream = int(void*, cuda::Stream);
  using GemmEx = int(void*, int, int, int, int, int, const void*, const void*, int, int,
                     const void*, int, int, const void*, void*, int, int, int, int);
  static auto* const set_stream = find<SetStream>(cublas(), "cublasSetStream_v2");
  static auto* const gemm_ex = find<GemmEx>(cublas(), "cublasGemmEx");
  const float one = 1, zero = 0;
  require(set_stream(handle_, stream), "cublasSetStream");
  // By columns, this is the transposed product.
  require(gemm_ex(handle_, 0, 0, static_cast<int>(c.cols), static_cast<int>(c.rows),
                  static_cast<int>(a.cols), &one, b.data, cuda_bf16, static_cast<int>(b.ld), a.data,
                  cuda_bf16, static_cast<int>(a.ld), &zero, c.data, cuda_bf16,
                  static_cast<int>(c.ld), cublas_compute_f32, cublas_default),
          "cublasGemmEx");
}

}  // namespace rung::dist_bench
