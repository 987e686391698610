#pragma once
// The memory layout of packed weights of 8 or 4 bits, shared by kernels (CPU and GPU) and the host.
//
// Weights are n rows of k steps. A record holds 16 rows and 128 k-steps: elements, then scales,
// then zero points. The records of the same rows are consecutive along k, followed by those of the
// next 16 rows, so that a kernel streams through memory. Elements are in the order of the fragments
// of mma.m16n8k16, so a lane loads 16 bytes and has its elements for a matrix instruction without a
// shuffle. Rows and k-steps outside the matrix are 0, and so are their scales.

#include <cstdint>

namespace rung {

enum class WeightScale : std::uint8_t { f32, bf16, f16 };

struct WeightLayout {
  static constexpr int rows = 16, steps = 128;  // per record

  std::int64_t n = 0, k = 0;
  int bits = 4;     // 4 or 8
  int group = 128;  // k-steps that share a scale: 64 or 128
  WeightScale scale = WeightScale::f32;
  bool has_zeros = false;

  constexpr int groups() const { return steps / group; }
  constexpr int scale_bytes() const { return scale == WeightScale::f32 ? 4 : 2; }
  constexpr int scales_at() const { return rows * steps * bits / 8; }
  constexpr int zeros_at() const { return scales_at() + groups() * rows * scale_bytes(); }
  constexpr int record_bytes() const { return zeros_at() + (has_zeros ? groups() * rows : 0); }

  constexpr std::int64_t row_tiles() const { return (n + rows - 1) / rows; }
  constexpr std::int64_t records_of_rows() const { return (k + steps - 1) / steps; }
  constexpr std::int64_t bytes() const { return row_tiles() * records_of_rows() * record_bytes(); }
  constexpr std::int64_t record_at(std::int64_t row_tile, std::int64_t record) const {
    return (row_tile * records_of_rows() + record) * record_bytes();
  }
};

/// A position within a record.
struct WeightPlace {
  int row, step;
};

/// The position of the element in bits [index * bits, (index + 1) * bits) of a 32-bit word of a
/// record. Lane l of a warp has 16 of each 512 bytes: rows l / 4 and l / 4 + 8, and for each 16
/// k-steps the steps 2 (l % 4), 2 (l % 4) + 1, and both + 8. A word holds 16 k-steps of 4 bits, or
/// 8 k-steps of 8 bits. Adjacent k-steps are 16 bits apart, so that one operation converts them to
/// a pair of 16-bit numbers.
constexpr WeightPlace place_of_weight(int bits, int word, int index) {
  const int lane = word % 128 / 4, in_lane = word % 4;
  const int steps = lane % 4 * 2 + index * bits / 16;
  if (bits == 4) {
    return {lane / 4 + index % 2 * 8, word / 128 * 64 + in_lane * 16 + index % 4 / 2 * 8 + steps};
  }
  return {lane / 4 + index % 2 * 8, word / 128 * 32 + in_lane * 8 + steps};
}

}  // namespace rung
