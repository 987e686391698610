#include "library/cuda/weight_only.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "backends/cuda/tensor_maps.hpp"
#include "core/integers.hpp"
#include "device/cuda/entry/weight_only.hpp"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/library/pack_weights.hpp"
#include "library/check.hpp"
#include "library/cuda/launch.hpp"
#include "rung/error.hpp"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

constexpr int least_arch = 80;

void check_arch(const char* function, int arch) {
  if (arch >= least_arch) return;
  throw Error(Status::unavailable, "rung: " + std::string(function) +
                                       ": no kernel for this GPU, sm_" + std::to_string(arch) +
                                       "; it needs sm_80");
}

bool is_k_major(const GemmCall& g) { return g.a.col_stride == 1; }

/// The tensor map of A for weight_only_wgmma, with 64 k-steps per row of a box. Unaligned and column-major
/// matrices are packed first.
cuda::TensorMapSpec map_of_a(const GemmCall& g, int box_rows) {
  return {.data = g.a.data,
          .element_bytes = 2,
          .row_length = g.k,
          .rows = g.m,
          .ld = is_k_major(g) ? g.a.row_stride : g.a.col_stride,
          .box_row_length = 64,
          .box_rows = box_rows,
          .is_transposed = !is_k_major(g)};
}

cuda::Launch launch_of_product(const CudaGemmChoice& chosen, const GemmCall& g, int multiprocessors,
                               int arch) {
  const cuda::TileShape& tile = cuda::weight_only_tile(chosen);
  const auto [tiles, shared_bytes] = cuda::weight_only_blocks(chosen, g, multiprocessors);
  cuda::Launch launch = {.grid = {cuda::blocks_of(tiles, chosen.config)},
                         .block = {tile.threads},
                         .shared_bytes = shared_bytes,
                         .workspace_bytes = cuda::split_bytes<float>(
                             tiles, std::int64_t{tile.BM} * tile.BN, chosen.config),
                         .starts_early = cuda::may_start_early(chosen, arch)};
  if (cuda::loads_by_tma(chosen)) launch.a = map_of_a(g, tile.BM);
  return launch;
}

template <class In>
void start_product(const cuda::WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                   const cuda::Launch& launch, const cuda::PreparedMaps& maps, void* sums,
                   const WeightOnlyCall& call) {
  const GemmCall& g = call.product;
  // C is passed as an address, because its elements may have type In.
  cuda::WeightOnlyArgs<In> args = {
      .gemm = {.problem = {g.m,
                           g.n,
                           g.k,
                           g.k == 0 ? 0 : static_cast<float>(g.alpha),
                           g.a.as<const In>(),
                           {},
                           static_cast<float>(g.beta),
                           {static_cast<float*>(g.c.data), g.c.row_stride, g.c.col_stride}},
               .split_k = {.splits = chosen.config.splits,
                           .whole = chosen.config.whole,
                           .workspace = sums},
               .maps = maps.maps()},
      .weights = call.weights,
      .layout = call.layout,
      .c_is_float = output_type(g.dtype) == Dtype::f32};
  void* parameters[] = {&args};
  cuda::start(workspace.context, workspace.stream,
              kernel_of(chosen, std::is_same_v<In, bfloat16> ? Dtype::bf16 : Dtype::f16), launch,
              parameters);
}

void launch(const cuda::WorkspaceSource& workspace, const CudaGemmChoice& chosen,
            const WeightOnlyCall& call, int multiprocessors) {
  cuda::ContextCache& context = workspace.context;
  const cuda::Launch launch =
      launch_of_product(chosen, call.product, multiprocessors, context.arch());
  const cuda::WorkspaceUse use =
      cuda::uses(workspace, launch) ? workspace.use() : cuda::WorkspaceUse{};
  void* const sums = launch.workspace_bytes == 0 ? nullptr : reinterpret_cast<void*>(use.data);
  const cuda::CopyRoom room(workspace, use, launch);
  const cuda::PreparedMaps maps = cuda::loads_by_tma(chosen)
                                      ? cuda::PreparedMaps(context.api(), launch, room.data())
                                      : cuda::PreparedMaps();
  require(context.api(), maps.result(), "cuTensorMapEncodeTiled");
  for (cuda::PackOperand copy : maps.copies()) {
    void* parameters[] = {&copy};
    cuda::start(context, workspace.stream, kernel_of(cuda::pack_operand, type_of(copy)),
                cuda::launch_of(copy, multiprocessors), parameters);
  }
  const bool is_bf16 = unrounded(call.product.dtype) == Dtype::bf16;
  is_bf16 ? start_product<bfloat16>(workspace, chosen, launch, maps, sums, call)
          : start_product<float16>(workspace, chosen, launch, maps, sums, call);
}

}  // namespace

PackedWeights cuda::pack_weights(const PackCall& call, Stream stream) {
  require_aligned("pack_weights", call.from.scales, call.layout.scale == WeightScale::f32 ? 4 : 2);
  ContextCache& context = current_context();
  check_arch("pack_weights", context.arch());
  const WeightLayout& layout = call.layout;
  const std::int64_t records = layout.row_tiles() * layout.records_of_rows();
  if (records == 0) return call.packed;
  PackWeights pack = {.from = call.from, .layout = layout, .to = call.to};
  void* parameters[] = {&pack};
  const std::int64_t blocks = std::min<std::int64_t>(records, 8 * context.limits().multiprocessors);
  start(context, stream, kernel_of(cuda::pack_weights_kernel, Dtype::i8),
        {.grid = {blocks}, .block = {PackWeights::threads}}, parameters);
  return call.packed;
}

void cuda::gemm_weight_only(const WeightOnlyCall& call, Stream stream, const CudaOptions& options) {
  const GemmCall& g = call.product;
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0 && g.beta == 1) return;
  require_aligned("gemm_weight_only", g);
  ContextCache& context = current_context();
  check_arch("gemm_weight_only", context.arch());
  const WorkspaceSource workspace{context, stream, options.workspace, options.workspace_bytes};
  const Limits limits = limits_of_call(workspace, options.multiprocessors);
  CudaGemmChoice chosen = choose_weight_only(g, call.layout.bits, context.arch(), limits);
  if (!fits(workspace, launch_of_product(chosen, g, limits.multiprocessors, context.arch()))) {
    // There is no memory for a packed A.
    chosen = choose_weight_only(g, call.layout.bits, least_arch, limits);
  }
  launch(workspace, chosen, call, limits.multiprocessors);
}

PackedWeights pack_weights(const QuantizedWeights& weights, void* packed, CudaStream stream) {
  return cuda::pack_weights(canonical(weights, packed), static_cast<cuda::Stream>(stream.handle()));
}

void gemm_weight_only(float alpha, const InputMatrix& a, const PackedWeights& weights, float beta,
                      const OutputMatrix& c, CudaStream stream, const CudaOptions& options) {
  check::workspace("gemm_weight_only", options.workspace, options.workspace_bytes);
  check::multiprocessors("gemm_weight_only", options.multiprocessors);
  check::mode_of_weight_only(options.compute_mode);
  cuda::gemm_weight_only(canonical(alpha, a, weights, beta, c),
                         static_cast<cuda::Stream>(stream.handle()), options);
}

}  // namespace rung
