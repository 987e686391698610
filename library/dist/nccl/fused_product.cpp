#include "library/dist/nccl/fused_product.hpp"

#include <algorithm>

namespace rung::nccl {
namespace {

constexpr std::int64_t tile_rows = 128;  // tile height of gemm_parts()

std::uint32_t* word(cuda::DevicePointer memory) { return reinterpret_cast<std::uint32_t*>(memory); }

/// Enqueues one kernel. Returns false and enqueues nothing if there is no kernel for these
/// matrices.
bool run_as_one(const Call& call, Exchange& exchange, TileSignalGemm product,
                const std::vector<FusedPart>& parts) {
  if (call.product.beta != 0 || !exchange.has_words(call.stream)) return false;
  std::int64_t rows = 0;
  product.finished_value = exchange.departure_value();
  for (const FusedPart& part : parts) {
    TileSignalPart& added = product.parts.emplace_back(part.rows);
    if (part.arrival != FusedPart::none) added.awaited = word(exchange.arrival(part.arrival));
    if (!part.sends.empty()) added.finished = word(exchange.departure(part.sends[0].number));
    rows += part.rows.rows;
  }
  bool is_enqueued = false;
  exchange.session().part("products", "product", rows, call.stream, [&] {
    is_enqueued = gemm_parts(product, CudaStream(call.stream), call.options);
  });
  if (!is_enqueued) return false;
  // Enqueue after the kernel: a wait placed earlier would deadlock the stream.
  for (const FusedPart& part : parts) {
    for (const Sending& sending : part.sends) {
      exchange.post_after(part.sends[0].number, sending.number, sending.step);
    }
  }
  return true;
}

/// Computes the rows of one part with separate kernels.
void run_part(const Call& call, Exchange& exchange, const TileSignalGemm& product,
              const FusedPart& part) {
  TileSignalPart alone = part.rows;
  if (part.arrival != FusedPart::none) await(part.arrival, exchange, call.stream);
  const bool adds = alone.addend_row >= 0;
  Product some = call.product;
  some.a = rows(product.a[alone.a], alone.a_row, alone.rows);
  some.c = rows(product.c[alone.c], alone.c_row, alone.rows);
  some.addend = adds ? rows(product.addend, alone.addend_row, alone.rows) : InputMatrix{};
  if (alone.c == sent_matrix) some.beta = 0;
  exchange.session().part("products", "product", alone.rows, call.stream, [&] {
    TileSignalGemm one = product;
    one.parts = {alone};
    if (some.beta == 0 && gemm_parts(one, CudaStream(call.stream), call.options)) return;
    multiply(some, CudaStream(call.stream), call.options);
  });
  for (const Sending& sending : part.sends) {
    exchange.post(sending.number, sending.step, call.stream);
  }
}

}  // namespace

Part part_of_tiles(std::int64_t rows, int chunk, int chunks) {
  const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows;
  const auto begin = [&](std::int64_t number) {
    return std::min(rows, tiles * number / chunks * tile_rows);
  };
  return {begin(chunk), begin(chunk + 1) - begin(chunk)};
}

void run_fused(const Call& call, Exchange& exchange, const TileSignalGemm& product,
               const std::vector<FusedPart>& parts) {
  std::vector<FusedPart> some = parts;
  std::erase_if(some, [](const FusedPart& part) { return part.rows.rows == 0; });
  if (some.empty() || run_as_one(call, exchange, product, some)) return;
  for (const FusedPart& part : some) run_part(call, exchange, product, part);
}

}  // namespace rung::nccl
