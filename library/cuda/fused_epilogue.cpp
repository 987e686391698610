#include "library/cuda/fused_epilogue.hpp"

#include <cstdint>
#include <type_traits>

#include "backends/cuda/prepared_gemm.hpp"
#include "backends/cuda/tensor_maps.hpp"
#include "device/cuda/library/fused_epilogue.hpp"
#include "select/cuda/operands.hpp"
#include "select/cuda/select.hpp"

namespace rung::cuda {
namespace {

bool is_multiple(const EpilogueOperand& operand, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(operand.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
         operand.row_stride * bytes_of(operand.type) % bytes == 0;
}

/// True if the kernel can access an operand in pairs of adjacent 16-bit elements, or if there is no
/// operand.
bool has_pairs(const EpilogueOperand& operand) {
  if (operand.data == nullptr) return true;
  return operand.col_stride == 1 && bytes_of(operand.type) == 2 && is_multiple(operand, 4);
}

/// True if TMA can store C or an aux output: rows begin and end at multiples of 16 bytes.
bool has_tma_store(const EpilogueOperand& operand, std::int64_t columns) {
  return is_multiple(operand, 16) && columns * bytes_of(operand.type) % 16 == 0;
}

/// True if there is no aux output, or if it has 16-bit elements and TMA can store it.
bool has_aux_store(const EpilogueArgs& args) {
  if (args.aux.data == nullptr) return true;
  return args.aux.col_stride == 1 && bytes_of(args.aux.type) == 2 &&
         has_tma_store(args.aux, args.n);
}

/// True if the kernel's tiles for common parts support an epilogue. TMA loads the residual and
/// stores the aux output through the same tensor map.
bool has_common_parts(Dtype product, const EpilogueArgs& args) {
  const ElementType type = args.c.type;
  if (!(product == Dtype::bf16 && type == ElementType::bf16) &&
      !(product == Dtype::f16 && type == ElementType::f16)) {
    return false;
  }
  for (const EpilogueOperand& other : {args.aux, args.residual}) {
    if (other.data == nullptr) continue;
    if (other.type != type || other.col_stride != 1 || !has_tma_store(other, args.n)) return false;
  }
  return args.pairs == Pairs::none && args.row_scale.data == nullptr &&
         args.col_scale.data == nullptr && args.row_bias.data == nullptr && args.beta == 0 &&
         args.result_factor == 1 && args.result_scale == nullptr && args.amax == nullptr &&
         args.activation != Activation::gelu_erf &&
         (args.aux.data == nullptr || args.residual.data == nullptr);
}

bool has_kernel(const EpilogueArgs& args) {
  using enum ElementType;
  const ElementType type = args.c.type;
  const bool has_type = type == f32 || type == bf16 || type == f16 || type == e4m3 || type == e5m2;
  const bool reads_c = args.beta != 0;
  const bool is_gated = args.pairs == Pairs::of_columns && bytes_of(type) > 1 &&
                        args.activation != Activation::gelu_erf;
  return has_type && (args.pairs == Pairs::none || is_gated) && !(reads_c && bytes_of(type) != 2) &&
         has_tma_store(args.c, args.result_cols()) && has_aux_store(args) &&
         has_pairs(args.residual);
}

/// The kernel with the tile that has the shortest predicted time.
ConfiguredGemm choose(const EpilogueCall& call, const Limits& limits) {
  const GemmCall& product = call.product.call;
  const EpilogueArgs& args = call.epilogue;
  const GemmSize size = {product.m, product.n, product.k};
  const OddRows odd_rows = odd_rows_of(product);
  ConfiguredGemm chosen = fused_epilogue;
  chosen.config = has_common_parts(product.dtype, args)
                      ? common_config(product.dtype, size, odd_rows, limits)
                      : fused_config(product.dtype, size, args.c.type,
                                     args.pairs == Pairs::of_columns, odd_rows, limits);
  return chosen;
}

/// The tensor map of C or of the aux output.
TensorMapSpec map_of(const EpilogueOperand& results, std::int64_t columns, std::int64_t rows) {
  const auto bytes = static_cast<int>(bytes_of(results.type));
  return {.data = results.data,
          .element_bytes = bytes,
          .row_length = columns,
          .rows = rows,
          .ld = results.row_stride,
          .box_row_length = 128 / bytes,
          .box_rows = 64};
}

template <class In>
void start_product(ContextCache& context, Stream stream, const KernelName& kernel,
                   const Launch& launch, const TensorMaps& maps, const EpilogueCall& call,
                   const EpilogueOperand& other, const SplitK& split_k) {
  Launch of_other = {};
  of_other.c = map_of(other, call.epilogue.n, call.epilogue.m);
  const PreparedMaps other_maps(context.api(), of_other, nullptr);
  require(context.api(), other_maps.result(), "cuTensorMapEncodeTiled");
  FusedArgs<In> args = {.problem = call.product.call.typed<In, float>(),
                        .split_k = split_k,
                        .maps = maps,
                        .other = other_maps.maps().c,
                        .epilogue = call.epilogue};
  void* parameters[] = {&args};
  start(context, stream, kernel, launch, parameters);
}

}  // namespace

bool launch_fused(const WorkspaceSource& workspace, const EpilogueCall& call, int multiprocessors) {
  const GemmCall& product = call.product.call;
  ContextCache& context = workspace.context;
  if (context.arch() != 90 || !has(*fused_epilogue.rung, product.dtype) ||
      !has_kernel(call.epilogue)) {
    return false;
  }
  const Limits limits = limits_of_call(workspace, multiprocessors);
  ConfiguredGemm chosen = choose(call, limits);
  Launch launch = fitting_launch(workspace, chosen, product, limits.multiprocessors);
  launch.c = map_of(call.epilogue.c, call.epilogue.result_cols(), call.epilogue.m);
  if (!fits(workspace, launch)) return false;

  const WorkspaceUse use = uses(workspace, launch) ? workspace.use() : WorkspaceUse{};
  const SplitK split_k = {.splits = chosen.config.splits,
                          .workspace = reinterpret_cast<void*>(use.data)};
  const CopyRoom room(workspace, use, launch);
  const PreparedMaps maps(context.api(), launch, room.data());
  require(context.api(), maps.result(), "cuTensorMapEncodeTiled");
  for (PackOperand copy : maps.copies()) {
    void* parameters[] = {&copy};
    start(context, workspace.stream, kernel_of(pack_operand, type_of(copy)),
          launch_of(copy, limits.multiprocessors), parameters);
  }
  // Tiles for all parts read the residual through pointers.
  const bool maps_residual =
      chosen.config.tile >= first_common_tile && call.epilogue.residual.data != nullptr;
  const EpilogueOperand& other = maps_residual ? call.epilogue.residual : call.epilogue.aux;
  visit(product.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (std::is_same_v<Out, float> && sizeof(In) <= 2) {
      start_product<In>(context, workspace.stream, kernel_of(chosen, product.dtype), launch,
                        maps.maps(), call, other, split_k);
    }
  });
  return true;
}

}  // namespace rung::cuda
