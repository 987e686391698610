#include "tools/measure/bench_weights.hpp"

#include <cmath>

#include "core/chunks.hpp"
#include "core/dtype_traits.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15;  // of Fibonacci hashing

std::uint64_t hash(std::int64_t index) {
  const std::uint64_t mixed = static_cast<std::uint64_t>(index + 1) * multiplier;
  return mixed ^ mixed >> 29;
}

std::uint16_t bits_of(Dtype type, float value) {
  return type == Dtype::bf16 ? bfloat16(value).bits : float16(value).bits;
}

}  // namespace

BenchWeights::BenchWeights(const Size& size, const WorkloadOptions& options)
    : n_(options.weight_bits > 0 ? size.n : 0),
      k_(options.weight_bits > 0 ? size.k : 0),
      bits_(options.weight_bits > 0 ? options.weight_bits : 4),
      group_(options.weight_group),
      elements_(static_cast<std::size_t>(n_ * k_ * bits_ / 8)),
      scales_(static_cast<std::size_t>(n_ * (k_ / group_))),
      memory_(Dtype::i8, 1, static_cast<std::int64_t>(packed_weights_bytes(quantized())),
              static_cast<std::int64_t>(packed_weights_bytes(quantized())), 0) {}

QuantizedWeights BenchWeights::quantized() const {
  return {.elements = elements_.data(),
          .bits = bits_,
          .n = n_,
          .k = k_,
          .group = group_,
          .scales = row_major(scales_.data(), n_, k_ / group_)};
}

void BenchWeights::set(std::int64_t row, std::int64_t step, int element) {
  const auto at = static_cast<std::size_t>(row * k_ + step);
  if (bits_ == 8) {
    elements_[at] = static_cast<std::uint8_t>(element);
  } else {
    const auto half = static_cast<std::uint8_t>(element & 15);
    std::uint8_t& pair = elements_[at / 2];
    pair = static_cast<std::uint8_t>(at % 2 == 0 ? half : pair | half << 4);
  }
}

void BenchWeights::fill(const Operand& b, bool b_transposed) {
  const Dtype type = unrounded(b.type());
  auto* const numbers = static_cast<std::uint16_t*>(b.data());
  const auto fill_row = [&](std::int64_t row) {
    for (std::int64_t step = 0; step < k_; ++step) {
      const std::int64_t of_group = row * (k_ / group_) + step / group_;
      float& scale = scales_[static_cast<std::size_t>(of_group)];
      if (step % group_ == 0) scale = std::ldexp(1.0f, static_cast<int>(hash(of_group) % 4) - 6);
      const auto random = static_cast<int>(hash(row * k_ + step) >> 32 & 255);
      const int element = bits_ == 8 ? random - 128 : random % 16 - 8;
      set(row, step, element);
      numbers[b_transposed ? row * b.ld() + step : step * b.ld() + row] =
          bits_of(type, scale * static_cast<float>(element));
    }
  };
  for_each_chunk(n_, 64, [&](std::int64_t first, std::int64_t last, auto) {
    for (std::int64_t row = first; row < last; ++row) fill_row(row);
  });
  packed_ = pack_weights(quantized(), memory_.data());
}

}  // namespace rung
