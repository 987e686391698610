// Mixed products: on sm_90 by gemm/cuda/split_bf16 if that pays off; otherwise as a float product with one
// widened operand.

#include "library/cuda/mixed.hpp"

#include <string>

#include "backends/cuda/prepared_gemm.hpp"
#include "core/integers.hpp"
#include "device/cuda/cost/split.hpp"
#include "library/cuda/gemm.hpp"
#include "library/cuda/launch.hpp"
#include "rung/error.hpp"
#include "rung/mixed.hpp"

namespace rung::cuda {
namespace {

/// The call for gemm/cuda/split_bf16: all operands have type bfloat16, but the pointer of the wide operand
/// is to floats.
GemmCall in_parts(const MixedCall& mixed) {
  GemmCall call = mixed.product.call;
  call.dtype = Dtype::bf16;
  return call;
}

/// Below k = 1024, errors of sums of one sign exceed those of a chain of FMAs, as in mode split.
bool may_use_parts(const MixedCall& mixed, ComputeMode mode, int arch) {
  constexpr std::int64_t least_k = 1024;
  const GemmCall& call = mixed.product.call;
  return call.k >= least_k && (mode == ComputeMode::standard || mode == ComputeMode::split) &&
         parts_pay({.dtype = call.dtype,
                    .m = call.m,
                    .n = call.n,
                    .k = call.k,
                    .a = mixed.product.a,
                    .b = mixed.product.b,
                    .alignment = 1,
                    .arch = arch},
                   mixed.a_is_narrow);
}

/// The launch of gemm/cuda/split_bf16 with as many splits as the memory for their sums allows.
Launch launch_of_parts(const WorkspaceSource& workspace, CudaGemmChoice& choice,
                       const MixedCall& mixed, int multiprocessors) {
  while (true) {
    Launch launch = fitted(launch_of(choice, in_parts(mixed)), multiprocessors);
    (mixed.a_is_narrow ? launch.b : launch.a).element_bytes = sizeof(float);
    if (choice.config.splits == 1 || fits(workspace, launch)) return launch;
    --choice.config.splits;
  }
}

}  // namespace

bool multiply_parts(const WorkspaceSource& workspace, const MixedCall& mixed, int multiprocessors) {
  ContextCache& context = workspace.context;
  const auto rung = choose_cuda_mixed(context.arch());
  if (!rung) return false;
  CudaGemmChoice choice = *rung;
  choice.config = {.tile = mixed.a_is_narrow ? 0 : 1,
                   .splits = splits_of_parts(mixed.product.call.k)};
  const Launch launch = launch_of_parts(workspace, choice, mixed, multiprocessors);
  if (!fits(workspace, launch)) return false;
  LaunchSequence sequence(workspace);
  sequence.add(choice, in_parts(mixed), launch, multiprocessors);
  sequence.enqueue();
  return true;
}

namespace {

/// Memory for a widened operand: at the end of the caller's workspace, or from the library's pool
/// until the stream's work is done.
class FloatRoom {
 public:
  FloatRoom(const WorkspaceSource& workspace, std::int64_t bytes) : workspace_(workspace) {
    if (workspace.given == nullptr) {
      data_ = workspace.context.pool().allocate(workspace.context.api(), bytes, workspace.stream);
      return;
    }
    const std::int64_t begin = workspace.bytes() - bytes;
    if (begin < 0) {
      throw Error(Status::invalid_argument,
                  "rung: gemm: the workspace has " + std::to_string(workspace.bytes()) +
                      " bytes; to widen the operand of bf16 to f32, it must have at least " +
                      std::to_string(bytes));
    }
    left_ = begin / 256 * 256;
    data_ = reinterpret_cast<DevicePointer>(workspace.given) + static_cast<DevicePointer>(left_);
  }
  FloatRoom(const FloatRoom&) = delete;
  FloatRoom& operator=(const FloatRoom&) = delete;
  ~FloatRoom() {
    if (workspace_.given == nullptr) {
      StreamPool::free(workspace_.context.api(), data_, workspace_.stream);
    }
  }

  float* data() const { return reinterpret_cast<float*>(data_); }
  /// Bytes of the caller's workspace that remain for the product.
  std::size_t bytes_left() const { return static_cast<std::size_t>(left_); }

 private:
  const WorkspaceSource& workspace_;
  DevicePointer data_ = 0;
  std::int64_t left_ = 0;
};

void widen_and_multiply(const WorkspaceSource& workspace, const MixedCall& mixed,
                        const CudaOptions& options, int multiprocessors) {
  constexpr std::int64_t line = 32;  // floats: rows begin at multiples of 128 bytes
  const NarrowLines lines = narrow_lines(mixed);
  const std::int64_t ld = round_up(lines.length, line);
  const FloatRoom room(workspace,
                       up_to_copy(lines.count * ld * static_cast<std::int64_t>(sizeof(float))));
  Widen widen = {
      MixedCall(mixed).narrow().data, room.data(), lines.length, lines.count, lines.ld, ld};
  void* parameters[] = {&widen};
  start(workspace.context, workspace.stream, kernel_of(mixed_operand, Dtype::bf16),
        launch_of(widen, multiprocessors), parameters);
  CudaOptions rest = options;
  if (options.workspace != nullptr) rest.workspace_bytes = room.bytes_left();
  gemm(with_floats(mixed, room.data(), ld), workspace.stream, rest);
}

void run(const MixedCall& mixed, CudaStream stream, const CudaOptions& options) {
  check::workspace("gemm", options.workspace, options.workspace_bytes);
  check::multiprocessors("gemm", options.multiprocessors);
  check::compute_mode("gemm", options.compute_mode);
  gemm_mixed(mixed, static_cast<Stream>(stream.handle()), options);
}

}  // namespace

void gemm_mixed(const MixedCall& mixed, Stream stream, const CudaOptions& options) {
  const GemmCall& call = mixed.product.call;
  if (call.m == 0 || call.n == 0 || !mixed.product.multiplies) {
    return gemm(mixed.product, stream, options);
  }
  check_apart(mixed);
  require_aligned("gemm", call.a.data, mixed.a_is_narrow ? sizeof(bfloat16) : sizeof(float));
  require_aligned("gemm", call.b.data, mixed.a_is_narrow ? sizeof(float) : sizeof(bfloat16));
  require_aligned("gemm", call.c.data, sizeof(float));
  ContextCache& context = current_context();
  const WorkspaceSource workspace{context, stream, options.workspace, options.workspace_bytes};
  const int multiprocessors = limits_of_call(workspace, options.multiprocessors).multiprocessors;
  if (may_use_parts(mixed, options.compute_mode, context.arch()) &&
      multiply_parts(workspace, mixed, multiprocessors)) {
    return;
  }
  widen_and_multiply(workspace, mixed, options, multiprocessors);
}

}  // namespace rung::cuda

namespace rung {

void gemm(float alpha, const MatrixView<const bfloat16>& a, const MatrixView<const float>& b,
          float beta, const MatrixView<float>& c, CudaStream stream, const CudaOptions& options) {
  cuda::run(canonical(alpha, a, b, beta, c), stream, options);
}

void gemm(float alpha, const MatrixView<const float>& a, const MatrixView<const bfloat16>& b,
          float beta, const MatrixView<float>& c, CudaStream stream, const CudaOptions& options) {
  cuda::run(canonical(alpha, a, b, beta, c), stream, options);
}

}  // namespace rung
