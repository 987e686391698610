// GPU products with an epilogue: one fused kernel or, if there is no such kernel for the types and
// layouts, a product that stores its sums in device memory and a second kernel that applies the
// epilogue.

#include "library/cuda/epilogue.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/cuda/grid_limits.hpp"
#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "device/cuda/library/apply_epilogue.hpp"
#include "library/cuda/fused_epilogue.hpp"
#include "library/cuda/gemm.hpp"
#include "library/cuda/launch.hpp"
#include "library/mode_environment.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

using cuda::ApplyEpilogue;

/// The type of a product's sums, and therefore of the kernel that applies the epilogue.
Dtype type_of_sums(Dtype product) {
  if (product == Dtype::f64) return Dtype::f64;
  return is_integer(product) ? Dtype::i32 : Dtype::f32;
}

void check_activation(Dtype product, Activation activation) {
  if (product != Dtype::f64 || activation <= Activation::relu) return;
  throw Error(Status::unavailable,
              "rung: gemm_epilogue: activation is " + std::to_string(static_cast<int>(activation)) +
                  "; on GPUs, for products of f64, it must be 0 (none) or 1 (relu)");
}

/// Device memory for sums: at the end of the caller's workspace, or from the library's pool until
/// the stream's work is done.
class SumsRoom {
 public:
  SumsRoom(cuda::ContextCache& context, cuda::Stream stream, const CudaOptions& options,
           std::int64_t bytes)
      : context_(context), stream_(stream) {
    if (options.workspace == nullptr) {
      data_ = context.pool().allocate(context.api(), bytes, stream);
    } else {
      // The end of a workspace may have any address; sums are aligned to 256 bytes.
      left_ = (options.workspace_bytes - static_cast<std::size_t>(bytes)) / 256 * 256;
      data_ = reinterpret_cast<cuda::DevicePointer>(options.workspace) + left_;
    }
    is_allocated_ = options.workspace == nullptr;
  }
  SumsRoom(const SumsRoom&) = delete;
  SumsRoom& operator=(const SumsRoom&) = delete;
  ~SumsRoom() {
    if (is_allocated_) cuda::StreamPool::free(context_.api(), data_, stream_);
  }

  void* data() const { return reinterpret_cast<void*>(data_); }
  /// Bytes of the caller's workspace that remain for the product.
  std::size_t bytes_left() const { return left_; }

 private:
  cuda::ContextCache& context_;
  cuda::Stream stream_;
  cuda::DevicePointer data_ = 0;
  std::size_t left_ = 0;
  bool is_allocated_ = false;
};

/// The memory that sums may take: half of the caller's workspace, because the product packs
/// operands and splits k in the rest, or 256 MiB of the pool.
std::int64_t bytes_for_sums(const CudaOptions& options) {
  if (options.workspace == nullptr) return std::int64_t{1} << 28;
  return static_cast<std::int64_t>(options.workspace_bytes) / 512 * 256;
}

/// The number of rows of sums per pass; even if there are several passes.
std::int64_t panel_rows(const EpilogueArgs& args, std::int64_t row_bytes, std::int64_t bytes) {
  const std::int64_t rows = bytes / row_bytes;
  if (rows >= args.m) return args.m;
  if (rows >= 2) return rows / 2 * 2;
  throw Error(Status::invalid_argument, "rung: gemm_epilogue: the workspace has room for " +
                                            std::to_string(bytes) +
                                            " bytes of sums; it must have room for " +
                                            std::to_string(2 * row_bytes) + ", two rows");
}

cuda::Launch launch_of(const EpilogueArgs& args) {
  const std::int64_t tiles = ceil_div(args.result_rows(), ApplyEpilogue::rows) *
                             ceil_div(args.result_cols(), ApplyEpilogue::cols);
  return {.grid = {tiles}, .block = {ApplyEpilogue::cols, ApplyEpilogue::rows_at_once}};
}

void apply(cuda::LaunchSequence& sequence, const EpilogueArgs& args, Dtype product,
           const void* sums) {
  const ApplyEpilogue argument = {args, sums};
  sequence.add(kernel_of(cuda::apply_epilogue, type_of_sums(product)), launch_of(args), &argument,
               sizeof argument);
}

void check_pointers(const EpilogueCall& call) {
  constexpr const char* op = "gemm_epilogue";
  cuda::require_aligned(op, call.product.call);
  const EpilogueArgs& args = call.epilogue;
  for (const EpilogueOperand& operand : {args.row_scale, args.col_scale, args.row_bias,
                                         args.col_bias, args.aux, args.residual, args.c}) {
    cuda::require_aligned(op, operand.data, static_cast<std::size_t>(bytes_of(operand.type)));
  }
  for (const float* const scalar :
       {args.scale_a, args.scale_b, args.result_scale, static_cast<const float*>(args.amax)}) {
    cuda::require_aligned(op, scalar, sizeof *scalar);
  }
}

/// Computes sums, then applies the epilogue, some rows at a time.
void run_in_two(cuda::ContextCache& context, const EpilogueCall& call, cuda::Stream stream,
                const CudaOptions& options) {
  const EpilogueArgs& args = call.epilogue;
  const GemmCall& product = call.product.call;
  const auto row_bytes = args.n * static_cast<std::int64_t>(output_bytes(product.dtype));
  const std::int64_t rows = panel_rows(args, row_bytes, bytes_for_sums(options));
  const SumsRoom sums(context, stream, options, round_up(rows * row_bytes, 256));
  cuda::LaunchSequence sequence({context, stream, options.workspace, sums.bytes_left()});
  for (std::int64_t row = 0; row < args.m; row += rows) {
    const std::int64_t count = std::min(rows, args.m - row);
    CanonicalCall part = call.product;
    part.call = rows_of(product, row, count, sums.data());
    cuda::add_gemm(sequence, part, options);
    apply(sequence, rows_of(args, row, count), product.dtype, sums.data());
  }
  sequence.enqueue();
}

}  // namespace

void cuda::gemm_epilogue(const EpilogueCall& call, Stream stream, const CudaOptions& options) {
  const GemmCall& product = call.product.call;
  check::has_mode(product.dtype, options.compute_mode);
  check_activation(product.dtype, call.epilogue.activation);
  if (call.epilogue.m == 0 || call.epilogue.n == 0) return;
  check_pointers(call);
  ContextCache& context = current_context();
  const WorkspaceSource workspace{context, stream, options.workspace, options.workspace_bytes};
  if (!call.product.multiplies) {
    LaunchSequence sequence(workspace);
    apply(sequence, call.epilogue, product.dtype, nullptr);
    return sequence.enqueue();
  }
  // The choice of the fused kernel depends on m, which mode batch_invariant does not allow.
  const bool may_fuse = !is_batch_invariant(product.dtype, options.compute_mode);
  if (may_fuse && launch_fused(workspace, call, options.multiprocessors)) return;
  run_in_two(context, call, stream, options);
}

void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                   const OutputMatrix& c, const Epilogue& epilogue, CudaStream stream,
                   const CudaOptions& options) {
  const auto environment = environment_of(options.compute_mode);
  check::workspace("gemm_epilogue", options.workspace, options.workspace_bytes);
  check::multiprocessors("gemm_epilogue", options.multiprocessors);
  check::compute_mode("gemm_epilogue", options.compute_mode);
  cuda::gemm_epilogue(canonical(alpha, a, b, beta, c, epilogue),
                      static_cast<cuda::Stream>(stream.handle()), options);
}

}  // namespace rung
