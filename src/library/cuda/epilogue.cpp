// On a GPU: a product with an epilogue is a kernel that has one or, where there is none for the types
// and layouts, a product of sums in device memory and a kernel that makes results of them.

#include "library/cuda/epilogue.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/cuda/grid_limits.hpp"
#include "core/integers.hpp"
#include "device/cuda/library/apply_epilogue.hpp"
#include "library/cuda/fused_epilogue.hpp"
#include "library/cuda/gemm.hpp"
#include "library/cuda/launch.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

using cuda::ApplyEpilogue;

/// The type of the sums of a product, and so of the kernel that makes results of them.
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

/// Device memory for sums, behind what the product itself uses of a workspace of the caller's; else of
/// the library's pool, until the work in the stream is done.
class SumsRoom {
 public:
  SumsRoom(cuda::ContextCache& context, cuda::Stream stream, const CudaOptions& options,
           std::int64_t bytes)
      : context_(context), stream_(stream) {
    if (options.workspace == nullptr) {
      data_ = context.pool().allocate(context.api(), bytes, stream);
    } else {
      const auto begin = reinterpret_cast<cuda::DevicePointer>(options.workspace);
      data_ = begin + options.workspace_bytes - static_cast<cuda::DevicePointer>(bytes);
    }
    is_allocated_ = options.workspace == nullptr;
  }
  SumsRoom(const SumsRoom&) = delete;
  SumsRoom& operator=(const SumsRoom&) = delete;
  ~SumsRoom() {
    if (is_allocated_) cuda::StreamPool::free(context_.api(), data_, stream_);
  }

  void* data() const { return reinterpret_cast<void*>(data_); }

 private:
  cuda::ContextCache& context_;
  cuda::Stream stream_;
  cuda::DevicePointer data_ = 0;
  bool is_allocated_ = false;
};

/// The part of a call's memory that sums may take: half of a workspace, because the product packs
/// operands and splits k in the rest; or 256 MiB.
std::int64_t bytes_for_sums(const CudaOptions& options) {
  if (options.workspace == nullptr) return std::int64_t{1} << 28;
  return static_cast<std::int64_t>(options.workspace_bytes) / 512 * 256;
}

/// Rows of sums that are computed at a time, an even number if there are more.
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

void apply(cuda::ContextCache& context, cuda::Stream stream, const EpilogueArgs& args,
           Dtype product, const void* sums) {
  ApplyEpilogue argument = {args, sums};
  void* parameters[] = {&argument};
  cuda::start(context, stream, kernel_of(cuda::apply_epilogue, type_of_sums(product)),
              launch_of(args), parameters);
}

/// Sums, then results, some rows at a time.
void run_in_two(cuda::ContextCache& context, const EpilogueCall& call, cuda::Stream stream,
                const CudaOptions& options) {
  const EpilogueArgs& args = call.epilogue;
  const GemmCall& product = call.product.call;
  const auto row_bytes = args.n * static_cast<std::int64_t>(output_bytes(product.dtype));
  const std::int64_t rows = panel_rows(args, row_bytes, bytes_for_sums(options));
  const std::int64_t bytes = round_up(rows * row_bytes, 256);
  const SumsRoom sums(context, stream, options, bytes);
  CudaOptions of_product = options;
  if (options.workspace != nullptr) {
    of_product.workspace_bytes -= static_cast<std::size_t>(bytes);
  }
  for (std::int64_t row = 0; row < args.m; row += rows) {
    const std::int64_t count = std::min(rows, args.m - row);
    CanonicalCall part = call.product;
    part.call = rows_of(product, row, count, sums.data());
    cuda::gemm(part, stream, of_product);
    apply(context, stream, rows_of(args, row, count), product.dtype, sums.data());
  }
}

}  // namespace

void cuda::gemm_epilogue(const EpilogueCall& call, Stream stream, const CudaOptions& options) {
  const GemmCall& product = call.product.call;
  check::has_mode(product.dtype, options.compute_mode);
  check_activation(product.dtype, call.epilogue.activation);
  if (call.epilogue.m == 0 || call.epilogue.n == 0) return;
  ContextCache& context = current_context();
  if (!call.product.multiplies) {
    return apply(context, stream, call.epilogue, product.dtype, nullptr);
  }
  const WorkspaceSource workspace{context, stream, options.workspace, options.workspace_bytes};
  // Whether the kernel with the epilogue is the faster one depends on m.
  const bool may_fuse = !is_batch_invariant(product.dtype, options.compute_mode);
  if (may_fuse && launch_fused(workspace, call, options.multiprocessors)) return;
  run_in_two(context, call, stream, options);
}

void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                   const OutputMatrix& c, const Epilogue& epilogue, CudaStream stream,
                   const CudaOptions& options) {
  check::workspace("gemm_epilogue", options.workspace, options.workspace_bytes);
  check::multiprocessors("gemm_epilogue", options.multiprocessors);
  check::compute_mode("gemm_epilogue", options.compute_mode);
  cuda::gemm_epilogue(canonical(alpha, a, b, beta, c, epilogue),
                      static_cast<cuda::Stream>(stream.handle()), options);
}

}  // namespace rung
