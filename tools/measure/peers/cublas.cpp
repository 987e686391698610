#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>
#include <type_traits>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/dot_operands.hpp"
#include "core/dtype.hpp"
#include "core/ignored_variable.hpp"
#include "core/kernel_error.hpp"
#include "core/shared_library/shared_library.hpp"
#include "tools/measure/peers/blas_operand.hpp"
#include "tools/measure/peers/column_major_gemm.hpp"
#include "tools/measure/peers/cublas_groups.hpp"
#include "tools/measure/peers/gpu_batch.hpp"
#include "tools/measure/peers/open.hpp"

namespace rung {
namespace {

// The parts of the cuBLAS API used here, with values from its reference.
using Handle = struct CublasContext*;
using Operation = cublas::Operation;
enum class Math : int { standard = 0, pedantic = 2, tf32 = 3 };
enum class PointerMode : int { host = 0, device = 1 };
constexpr int default_algorithm = -1;              // CUBLAS_GEMM_DEFAULT
constexpr std::size_t workspace_bytes = 32 << 20;  // the default of cuBLAS on Hopper

template <class T>
using Gemm2 = int(Handle, Operation, Operation, int m, int n, int k, const T* alpha, const T* a,
                  int lda, const T* b, int ldb, const T* beta, T* c, int ldc);

template <class T>
using DotFunction = int(Handle, int n, const T* x, int incx, const T* y, int incy, T* result);

struct Functions {
  int (*get_property)(int which, int* value);
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, cuda::Stream);
  int (*set_workspace)(Handle, void*, std::size_t bytes);
  int (*set_math_mode)(Handle, Math);
  int (*set_pointer_mode)(Handle, PointerMode);
  const char* (*status_name)(int);
  Gemm2<float>* sgemm;
  Gemm2<double>* dgemm;
  CublasGemmEx<Handle>* gemm_ex;
  int (*strided_batch_ex)(Handle, Operation, Operation, int m, int n, int k, const void* alpha,
                          const void* a, cublas::DataType, int lda, long long stride_a,
                          const void* b, cublas::DataType, int ldb, long long stride_b,
                          const void* beta, void* c, cublas::DataType, int ldc, long long stride_c,
                          int batch, cublas::ComputeType, int algorithm);
  CublasGrouped<Handle>* grouped_ex;  // since 12.5; null in older versions
  DotFunction<float>* sdot;
  DotFunction<double>* ddot;

  explicit Functions(const SharedLibrary& library) {
    const auto find = [&]<class F>(F*& function, const char* symbol) {
      function = library.find<F>(symbol);
      if (function == nullptr && missing.empty()) missing = symbol;
    };
    find(get_property, "cublasGetProperty");
    find(create, "cublasCreate_v2");
    find(destroy, "cublasDestroy_v2");
    find(set_stream, "cublasSetStream_v2");
    find(set_workspace, "cublasSetWorkspace_v2");
    find(set_math_mode, "cublasSetMathMode");
    find(set_pointer_mode, "cublasSetPointerMode_v2");
    find(status_name, "cublasGetStatusName");
    find(sgemm, "cublasSgemm_v2");
    find(dgemm, "cublasDgemm_v2");
    find(gemm_ex, "cublasGemmEx");
    find(strided_batch_ex, "cublasGemmStridedBatchedEx");
    grouped_ex = library.find<CublasGrouped<Handle>>("cublasGemmGroupedBatchedEx");
    find(sdot, "cublasSdot_v2");
    find(ddot, "cublasDdot_v2");
  }

  void check(int status, const char* call) const {
    if (status != 0) throw KernelError(fmt::format("{}: {}", call, status_name(status)));
  }

  std::string missing;  // the first function missing in the library
};

std::optional<std::string> why_not(const GemmCall& call) {
  if (is_float8(call.dtype)) {
    return "has no 8-bit floats: cublaslt has";
  }
  const bool in_fours = BlasOperand(call.a, call.m, call.k).ld % 4 == 0 &&
                        BlasOperand(call.b, call.k, call.n).ld % 4 == 0;
  if (call.dtype == Dtype::i8 && !in_fours) {
    return "takes i8 only with leading dimensions of A and B that are multiples of 4";
  }
  return why_not_in_cublas(call);
}

/// A handle with its workspace, in the device's stream.
class Session {
 public:
  Session(const Functions& functions, cuda::Gpu& gpu)
      : functions_(functions), workspace_(gpu, workspace_bytes) {
    functions.check(functions.create(&handle_), "cublasCreate");
    functions.check(functions.set_stream(handle_, gpu.stream()), "cublasSetStream");
    // Must follow cublasSetStream, which resets the workspace.
    functions.check(functions.set_workspace(handle_, workspace_.data(), workspace_.bytes()),
                    "cublasSetWorkspace");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    // If the context is lost, the handle cannot be destroyed.
    if (is_present()) functions_.destroy(handle_);
  }

  Handle handle() const { return handle_; }
  bool is_present() const { return workspace_.is_present(); }

 private:
  const Functions& functions_;
  cuda::DeviceBuffer workspace_;
  Handle handle_ = nullptr;
};

class Cublas final : public Peer {
 public:
  Cublas(const SharedLibrary& library, cuda::Gpu& gpu)
      : path_(library.path("cublasCreate_v2")), functions_(library), gpu_(gpu) {
    if (!functions_.missing.empty()) return;
    int parts[3] = {};  // libraryPropertyType: major, minor, patch
    for (int which = 0; which < 3; ++which) functions_.get_property(which, &parts[which]);
    version_ = fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
    const char* const given = std::getenv("RUNG_CUBLAS_MATH");
    const std::string_view math = given == nullptr ? "" : given;
    if (math == "default") {
      f32_math_ = Math::standard;
    } else if (math == "tf32") {
      f32_math_ = Math::tf32;
    } else if (!math.empty() && math != "pedantic") {
      ignore_variable("RUNG_CUBLAS_MATH", math,
                      "is not one of pedantic, default, tf32; pedantic is used");
    }
  }

  const std::string& missing() const { return functions_.missing; }

  std::string name() const override { return "cublas"; }
  std::string version() const override { return version_; }
  std::string kernels() const override { return "its choice for each problem"; }
  std::string path() const override { return path_; }
  std::string note() const override {
    switch (f32_math_) {
      case Math::standard: return "f32 in default math";
      case Math::tf32: return "f32 in TF32 math";
      case Math::pedantic: break;
    }
    return "f32 in pedantic math";
  }

  Bound bind(const GemmCall& call, int /*threads*/) const override {
    if (const auto reason = why_not(call)) return {{}, *reason};
    gpu_.make_current();
    const auto session = this->session();
    const ColumnMajorGemm g(gpu_, call);
    return {
        batch_on_gpu("cublas", g.operands, [this, session, g] { launch(session->handle(), g); }),
        {}};
  }
  Bound bind_groups(const GroupedCall& call, int /*threads*/) const override {
    if (functions_.grouped_ex == nullptr) return {{}, "has no cublasGemmGroupedBatchedEx"};
    const Dtype dtype = call.call.dtype;
    if (dtype != Dtype::bf16_bf16 && dtype != Dtype::f16_f16 && dtype != Dtype::f32 &&
        dtype != Dtype::f64 && dtype != Dtype::tf32) {
      return {{},
              "has groups of bf16, f16, f32, f64 and tf32 alone, with results of the same type"};
    }
    return bind_groups(call, [this](Handle handle, const CublasGroups& groups) {
      functions_.check(groups.launch(functions_.grouped_ex, handle), "cublasGemmGroupedBatchedEx");
    });
  }
  std::unique_ptr<Contender> loop_of_groups() const override;
  /// One call of cublasGemmEx per group.
  Bound bind_loop(const GroupedCall& call) const {
    if (const auto reason = why_not(call.call)) return {{}, *reason};
    return bind_groups(
        call, [this, dtype = call.call.dtype](Handle handle, const CublasGroups& groups) {
          functions_.set_math_mode(handle, dtype == Dtype::f32 ? f32_math_ : Math::standard);
          functions_.check(groups.launch_each(functions_.gemm_ex, handle, default_algorithm),
                           "cublasGemmEx");
        });
  }
  // Like the rungs, stores the sum in device memory, so that calls do not wait for each other.
  Bound bind(const DotCall& call, int /*threads*/, void* result) const override {
    if (call.y == nullptr) return {{}, "has no sum"};
    gpu_.make_current();
    if (call.dtype == Dtype::f32) return bind_dot(functions_.sdot, call, result);
    if (call.dtype == Dtype::f64) return bind_dot(functions_.ddot, call, result);
    if (call.dtype == Dtype::i32) return {{}, "has no dot product of 32-bit integers"};
    return {{}, "rounds its result to " + std::string(::rung::name(call.dtype))};
  }

 private:
  template <class Launch>
  Bound bind_groups(const GroupedCall& call, const Launch& launch) const {
    gpu_.make_current();
    const auto session = this->session();
    const auto groups = std::make_shared<CublasGroups>(gpu_, call);
    return {batch_on_gpu("cublas", groups->operands(),
                         [this, session, groups, launch] {
                           functions_.set_pointer_mode(session->handle(), PointerMode::host);
                           launch(session->handle(), *groups);
                         }),
            {}};
  }
  template <class T>
  Bound bind_dot(DotFunction<T>* dot, const DotCall& call, void* result) const {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (std::max({call.n, std::abs(call.incx), std::abs(call.incy)}) > most) {
      return {{}, "a size exceeds its 32-bit integers"};
    }
    const auto operands = std::make_shared<cuda::DotOperands>(gpu_, call, result);
    const auto session = this->session();
    // cuBLAS requires the lowest address, even for a negative increment.
    const auto lowest = [&](const void* first, std::int64_t increment) {
      return static_cast<const T*>(first) + (increment < 0 ? (call.n - 1) * increment : 0);
    };
    const auto launch = [=, this, x = lowest(operands->x(), call.incx),
                         y = lowest(operands->y(), call.incy), n = static_cast<int>(call.n),
                         incx = static_cast<int>(call.incx), incy = static_cast<int>(call.incy)] {
      functions_.set_pointer_mode(session->handle(), PointerMode::device);
      functions_.check(
          dot(session->handle(), n, x, incx, y, incy, static_cast<T*>(operands->result().data())),
          sizeof(T) == 4 ? "cublasSdot" : "cublasDdot");
    };
    return {batch_on_gpu("cublas", operands, launch), {}};
  }

  std::shared_ptr<Session> session() const {
    const std::lock_guard lock(mutex_);
    if (session_ == nullptr || !session_->is_present()) {
      session_ = std::make_shared<Session>(functions_, gpu_);
    }
    return session_;
  }

  void launch(Handle handle, const ColumnMajorGemm& g) const {
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    const CublasFactor& first = g.first;
    const CublasFactor& second = g.second;
    const auto typed = [&](auto* gemm, const auto& alpha, const auto& beta) {
      using T = std::remove_cvref_t<decltype(alpha)>;
      return gemm(handle, first.operation, second.operation, size(g.m), size(g.n), size(g.k),
                  &alpha, static_cast<const T*>(first.data), size(first.ld),
                  static_cast<const T*>(second.data), size(second.ld), &beta, static_cast<T*>(g.c),
                  size(g.ldc));
    };
    functions_.set_pointer_mode(handle, PointerMode::host);
    functions_.set_math_mode(handle, g.dtype == Dtype::f32 ? f32_math_ : Math::standard);
    if (g.batch != 1) return launch_batch(handle, g);
    switch (g.dtype) {
      case Dtype::f32:
        functions_.check(typed(functions_.sgemm, g.alpha.f32, g.beta.f32), "cublasSgemm");
        break;
      case Dtype::f64:
        functions_.check(typed(functions_.dgemm, g.alpha.f64, g.beta.f64), "cublasDgemm");
        break;
      default:
        functions_.check(
            functions_.gemm_ex(handle, first.operation, second.operation, size(g.m), size(g.n),
                               size(g.k), &g.alpha, first.data, g.in_type(), size(first.ld),
                               second.data, g.in_type(), size(second.ld), &g.beta, g.c,
                               g.out_type(), size(g.ldc), g.compute(), default_algorithm),
            "cublasGemmEx");
    }
  }

  void launch_batch(Handle handle, const ColumnMajorGemm& g) const {
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    functions_.check(functions_.strided_batch_ex(
                         handle, g.first.operation, g.second.operation, size(g.m), size(g.n),
                         size(g.k), &g.alpha, g.first.data, g.in_type(), size(g.first.ld),
                         g.first.batch_stride, g.second.data, g.in_type(), size(g.second.ld),
                         g.second.batch_stride, &g.beta, g.c, g.out_type(), size(g.ldc),
                         g.batch_stride_c, size(g.batch), g.compute(), default_algorithm),
                     "cublasGemmStridedBatchedEx");
  }

  std::string path_;
  Functions functions_;
  cuda::Gpu& gpu_;
  std::string version_;
  Math f32_math_ = Math::pedantic;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Session> session_;
};

class CublasLoop final : public Contender {
 public:
  explicit CublasLoop(const Cublas& cublas) : cublas_(cublas) {}

  std::string name() const override { return "cublas loop"; }
  Bound bind(const GemmCall&, int) const override { return {{}, "is for groups"}; }
  Bound bind_groups(const GroupedCall& call, int /*threads*/) const override {
    return cublas_.bind_loop(call);
  }
  Bound bind(const DotCall&, int, void*) const override { return {{}, "is for groups"}; }

 private:
  const Cublas& cublas_;
};

std::unique_ptr<Contender> Cublas::loop_of_groups() const {
  return std::make_unique<CublasLoop>(*this);
}

}  // namespace

std::unique_ptr<Peer> open_cublas(const Backend& backend, std::string& why_not) {
  const SharedLibrary library(
      "RUNG_CUBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"});
  why_not = library.why_not();
  if (!library) return nullptr;
  auto peer = std::make_unique<Cublas>(library, *gpu_of(backend));
  if (peer->missing().empty()) return peer;
  why_not = "it lacks " + peer->missing();
  return nullptr;
}

}  // namespace rung
