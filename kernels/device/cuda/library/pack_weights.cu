// Packs quantized weights for weight_only and weight_only_wgmma: a block packs one record at a time, a
// thread one word. Registered like a rung, but not on the ladder.

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/library/pack_weights.hpp"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_pack_weights = {
    .entry = "gemm_cuda_library_pack_weights", .launches = {}, .tiles = {}};

}  // namespace rung

#else

extern "C" __global__ void __launch_bounds__(rung::cuda::PackWeights::threads)
    gemm_cuda_library_pack_weights_i8(rung::cuda::PackWeights pack) {
  using rung::WeightLayout;
  const WeightLayout& layout = pack.layout;
  const std::int64_t of_rows = layout.records_of_rows();
  const std::int64_t records = layout.row_tiles() * of_rows;
  const int words = layout.record_bytes() / 4;
  for (std::int64_t record = blockIdx.x; record < records; record += gridDim.x) {
    auto* const to = static_cast<std::uint32_t*>(pack.to) + record * words;
    for (int word = static_cast<int>(threadIdx.x); word < words;
         word += rung::cuda::PackWeights::threads) {
      to[word] = rung::packed_word(pack.from, layout, record / of_rows * WeightLayout::rows,
                                   record % of_rows * WeightLayout::steps, word);
    }
  }
}

#endif
