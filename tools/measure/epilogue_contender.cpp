// The library's products with an epilogue, block scales or packed weights, as contenders.

#include <fmt/format.h>

#include <memory>
#include <type_traits>

#include "core/integers.hpp"
#include "rung/block_scaled.hpp"
#include "rung/epilogue.hpp"
#include "rung/weight_only.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/peers/epilogue_on_gpu.hpp"
#include "tools/measure/peers/gpu_batch.hpp"
#include "tools/measure/peers/groups_on_gpu.hpp"

namespace rung {
namespace {

template <class T>
constexpr ElementType type_of() {
  using Public = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t, T>;
  return detail::element_type_of<Public>();
}

ElementType input_type(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return type_of<In>(); });
}
ElementType result_type(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return type_of<Out>(); });
}

template <class View, class Pointer>
View view(const AnyMatrix<Pointer>& matrix, ElementType type, std::int64_t rows,
          std::int64_t cols) {
  if (matrix.data == nullptr) return {};
  const bool by_rows = matrix.col_stride == 1 && matrix.row_stride >= cols;
  return {matrix.data,
          type,
          rows,
          cols,
          by_rows ? matrix.row_stride : matrix.col_stride,
          by_rows ? Order::row_major : Order::col_major};
}

template <class T, class Pointer>
MatrixView<const T> typed_view(const AnyMatrix<Pointer>& matrix, std::int64_t rows,
                               std::int64_t cols) {
  const auto any = view<InputMatrix>(matrix, detail::element_type_of<T>(), rows, cols);
  return {static_cast<const T*>(any.data), any.rows, any.cols, any.ld, any.order};
}

/// `where`: the last arguments of gemm_block_scaled().
template <class... Where>
void run_block_scaled(const CallWithEpilogue& with, const Where&... where) {
  const auto& [dtype, m, n, k] = std::tie(with.call.dtype, with.call.m, with.call.n, with.call.k);
  const std::int64_t k_blocks = ceil_div(k, 128), n_blocks = ceil_div(n, 128);
  gemm_block_scaled(
      1,
      {typed_view<float8_e4m3>(with.call.a, m, k), typed_view<float>(with.a_scales, m, k_blocks)},
      {typed_view<float8_e4m3>(with.call.b, k, n),
       typed_view<float>(with.b_scales, k_blocks, n_blocks)},
      0, view<OutputMatrix>(with.call.c, result_type(dtype), m, n), where...);
}

/// Groups of rows; `where` as for run_block_scaled().
template <class... Where>
void run_scaled_groups(const GroupedCall& grouped, const GroupScales& scales,
                       const Where&... where) {
  const GemmCall& call = grouped.call;
  const std::int64_t k_blocks = ceil_div(call.k, 128), n_blocks = ceil_div(call.n, 128);
  gemm_block_scaled(
      1,
      {typed_view<float8_e4m3>(call.a, call.m, call.k),
       typed_view<float>(scales.a, call.m, k_blocks)},
      {strided(typed_view<float8_e4m3>(call.b, call.k, call.n), call.batch, call.b.batch_stride),
       strided(typed_view<float>(scales.b, k_blocks, n_blocks), call.batch, scales.b.batch_stride)},
      0, view<OutputMatrix>(call.c, result_type(call.dtype), call.m, call.n),
      grouped.groups.offsets, where...);
}

/// `where`: the last arguments of gemm_epilogue(), gemm_block_scaled() or gemm_weight_only().
template <class... Where>
void run(const CallWithEpilogue& with, const Where&... where) {
  if (with.a_scales.data != nullptr) return run_block_scaled(with, where...);
  const GemmCall& call = with.call;
  const ElementType in = input_type(call.dtype), out = result_type(call.dtype);
  if (with.packed.data != nullptr) {
    return gemm_weight_only(1, view<InputMatrix>(call.a, in, call.m, call.k), with.weights, 0,
                            view<OutputMatrix>(call.c, out, call.m, call.n), where...);
  }
  Epilogue epilogue;
  if (with.bias.data != nullptr) epilogue.column_bias = InputVector(with.bias.data, out, call.n);
  epilogue.activation = with.parts.activation;
  epilogue.aux = view<OutputMatrix>(with.aux, out, call.m, call.n);
  epilogue.residual = view<InputMatrix>(with.residual, out, call.m, call.n);
  gemm_epilogue(call.alpha, view<InputMatrix>(call.a, in, call.m, call.k),
                view<InputMatrix>(call.b, in, call.k, call.n), call.beta,
                view<OutputMatrix>(call.c, out, call.m, call.n), epilogue, where...);
}

}  // namespace

Bound LibraryContender::bind_epilogue(const CallWithEpilogue& call, int threads) const {
  const GemmOptions options = {.threads = threads, .compute_mode = mode_};
  return {[call, options](std::int64_t calls) {
            for (std::int64_t i = 0; i < calls; ++i) run(call, options);
          },
          {}};
}

Bound LibraryContender::bind_scaled_groups(const GroupedCall& call, const GroupScales& scales,
                                           int threads) const {
  const GemmOptions options = {.threads = threads, .compute_mode = mode_};
  return {[=](std::int64_t calls) {
            for (std::int64_t i = 0; i < calls; ++i) run_scaled_groups(call, scales, options);
          },
          {}};
}

Bound GpuLibraryContender::bind_scaled_groups(const GroupedCall& call, const GroupScales& scales,
                                              int threads) const {
  gpu_.make_current();
  const GroupsOnGpu groups(gpu_, call);
  const auto copy = [this](AnyMatrix<const void*>& matrix) {
    const auto copied = std::make_shared<cuda::DeviceMatrix>(gpu_, matrix.storage, matrix.data);
    matrix.data = reinterpret_cast<const void*>(copied->data());
    return copied;
  };
  GroupScales on_gpu = scales;
  const auto a_scales = copy(on_gpu.a), b_scales = copy(on_gpu.b);
  const CudaStream stream(gpu_.stream());
  const CudaBatchOptions options = {.gemm = {.compute_mode = mode_}};
  const auto once = [=] { run_scaled_groups(groups.call, on_gpu, stream, options); };
  return {batch_on_gpu("library", groups.operands,
                       [=, this] {
                         launch(once, threads);
                         (void)groups.offsets, (void)a_scales, (void)b_scales;
                       }),
          {}};
}

Bound GpuLibraryContender::bind_epilogue(const CallWithEpilogue& call, int threads) const {
  gpu_.make_current();
  const EpilogueOnGpu on_gpu(gpu_, call);
  const CudaStream stream(gpu_.stream());
  const CudaOptions options = {.compute_mode = mode_};
  return {batch_on_gpu("library", on_gpu.operands,
                       [=, this] { launch([&] { run(on_gpu.call, stream, options); }, threads); }),
          {}};
}

}  // namespace rung
