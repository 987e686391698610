#include "core/shared_library/shared_library.hpp"
#include "rung/types.hpp"
#include "tools/measure/peers/blas_operand.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/measure/peers/peer_library.hpp"

namespace rung {
namespace {

// dnnl_version_t in dnnl_types.h. Its first three members have not changed since version 1.
struct DnnlVersion {
  int major;
  int minor;
  int patch;
};

class OneDnn final : public Peer {
 public:
  explicit OneDnn(const SharedLibrary& library)
      : path_(library.path("dnnl_sgemm")),
        set_num_threads_(library.find<void(int)>("omp_set_num_threads")),
        sgemm_(library.find<GemmFunction<float>>("dnnl_sgemm")),
        bf16_gemm_(library.find<GemmFunction<bfloat16>>("dnnl_gemm_bf16bf16f32")),
        s8_gemm_(library.find<S8GemmFunction>("dnnl_gemm_s8s8s32")) {
    if (bf16_gemm_ != nullptr && !has_kernel(bf16_gemm_)) bf16_gemm_ = nullptr;
    if (const auto query = library.find<const DnnlVersion*()>("dnnl_version")) {
      const DnnlVersion& found = *query();
      version_ = std::to_string(found.major) + "." + std::to_string(found.minor) + "." +
                 std::to_string(found.patch);
    }
    if (const auto query = library.find<int()>("dnnl_get_effective_cpu_isa")) {
      kernels_ = isa_name(query());
    }
  }

  bool complete() const { return sgemm_ != nullptr; }

  std::string name() const override { return "onednn"; }
  std::string version() const override { return version_; }
  std::string kernels() const override { return kernels_; }
  std::string path() const override { return path_; }
  std::string note() const override {
    return set_num_threads_ == nullptr ? "not built for OpenMP: its number of threads cannot be set"
                                       : "";
  }

  Bound bind(const GemmCall& call, int threads) const override {
    if (call.batch != 1) return {{}, "has no batches"};
    if (set_num_threads_ != nullptr) set_num_threads_(threads);
    if (call.dtype == Dtype::f32) return bind_gemm<float>(sgemm_, call);
    if (call.dtype == Dtype::bf16 && bf16_gemm_ != nullptr) {
      return bind_gemm<bfloat16>(bf16_gemm_, call);
    }
    if (call.dtype == Dtype::i8 && s8_gemm_ != nullptr) return bind_s8_gemm(call);
    return {{}, "has no such type"};
  }
  Bound bind(const DotCall&, int, void*) const override { return {{}, "has no dot product"}; }

 private:
  template <class In>
  using GemmFunction = int(char trans_a, char trans_b, std::int64_t m, std::int64_t n,
                           std::int64_t k, float alpha, const In* a, std::int64_t lda, const In* b,
                           std::int64_t ldb, float beta, float* c, std::int64_t ldc);

  /// True if the type is supported on this CPU; it is not without AVX-512.
  template <class In>
  static bool has_kernel(GemmFunction<In>* gemm) {
    const In element{};
    float sum = 0;
    return gemm('N', 'N', 1, 1, 1, 1, &element, 1, &element, 1, 0, &sum, 1) == 0;
  }

  template <class In>
  static Bound bind_gemm(GemmFunction<In>* gemm, const GemmCall& call) {
    const auto g = call.typed<In, float>();
    const BlasOperand a(call.a, g.m, g.k);
    const BlasOperand b(call.b, g.k, g.n);
    const BlasOperand c(call.c, g.m, g.n);
    const auto run = [=](std::int64_t calls) {
      for (std::int64_t i = 0; i < calls; ++i) {
        gemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', g.m, g.n, g.k, g.alpha, g.a.data,
             a.ld, g.b.data, b.ld, g.beta, g.c.data, c.ld);
      }
    };
    return {run, {}};
  }

  // The offsets of A, B and C are 0. alpha and beta are also floats in this function.
  using S8GemmFunction = int(char trans_a, char trans_b, char offset_c, std::int64_t m,
                             std::int64_t n, std::int64_t k, float alpha, const std::int8_t* a,
                             std::int64_t lda, std::int8_t offset_a, const std::int8_t* b,
                             std::int64_t ldb, std::int8_t offset_b, float beta, std::int32_t* c,
                             std::int64_t ldc, const std::int32_t* offsets_c);

  Bound bind_s8_gemm(const GemmCall& call) const {
    const auto alpha = static_cast<float>(call.alpha), beta = static_cast<float>(call.beta);
    if (static_cast<double>(alpha) != call.alpha || static_cast<double>(beta) != call.beta) {
      return {{}, "takes alpha and beta of i8 as floats, which these are not"};
    }
    const auto g = call.typed<std::int8_t, std::uint32_t>();
    const BlasOperand a(call.a, g.m, g.k);
    const BlasOperand b(call.b, g.k, g.n);
    const BlasOperand c(call.c, g.m, g.n);
    auto* const out = reinterpret_cast<std::int32_t*>(g.c.data);
    const auto run = [=, gemm = s8_gemm_](std::int64_t calls) {
      constexpr std::int32_t offset_c = 0;
      for (std::int64_t i = 0; i < calls; ++i) {
        gemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', 'F', g.m, g.n, g.k, alpha,
             g.a.data, a.ld, 0, g.b.data, b.ld, 0, beta, out, c.ld, &offset_c);
      }
    };
    return {run, {}};
  }

  // dnnl_cpu_isa_t is a bit set; later features imply earlier ones.
  static std::string isa_name(int isa) {
    constexpr int avx2 = 0x7, avx512_core = 0x27, avx512_bf16 = 0xe7, avx512_amx = 0x3e7;
    for (const auto& [bits, name] :
         {std::pair{avx512_amx, "avx512 with AMX"}, std::pair{avx512_bf16, "avx512 with bf16"},
          std::pair{avx512_core, "avx512"}, std::pair{avx2, "avx2"}}) {
      if ((isa & bits) == bits) return name;
    }
    return "sse4.1";
  }

  std::string path_;
  void (*set_num_threads_)(int);
  GemmFunction<float>* sgemm_;
  GemmFunction<bfloat16>* bf16_gemm_;  // exported, but not declared in its header; null if missing
  S8GemmFunction* s8_gemm_;
  std::string version_ = "unknown";
  std::string kernels_ = "unknown";
};

}  // namespace

std::unique_ptr<Peer> open_onednn(std::string& why_not) {
  const SharedLibrary library = open_peer_library("RUNG_ONEDNN", "libdnnl.so",
                                                  {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"});
  why_not = library.why_not();
  if (!library) return nullptr;
  auto peer = std::make_unique<OneDnn>(library);
  if (peer->complete()) return peer;
  why_not = "it lacks dnnl_sgemm";
  return nullptr;
}

}  // namespace rung
