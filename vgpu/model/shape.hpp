#pragma once
// The addresses of a warp's access as one object. Usually it is one address for all lanes, or a
// constant stride between lanes, and can be checked, counted and copied without a loop over lanes.

#include <array>
#include <bit>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

struct ReadLog;

/// Computed from an address register at its first use in a basic block. Every access through that
/// register uses it until the register is written again, because the offsets of instructions shift
/// all lanes equally. Only shapes of all 32 lanes can be uniform or linear.
///
/// The next warp, or the next iteration, usually has the same distances between its lanes. The
/// shape then moves to another `low` and keeps its other properties.
struct Shape {
  enum class Kind : std::uint8_t { uniform, linear, scattered };

  /// A distinct distance of a scattered shape, and the first two lanes that have it.
  struct Unique {
    std::uint64_t distance;
    std::uint8_t first, second;  // equal if only one lane has it
  };

  Kind kind = Kind::uniform;
  bool narrow = false;          // distances fit in 31 bits
  bool halves_agree = false;    // lanes n and n + 16 have the same address
  bool halves_uniform = false;  // each half has a single address
  bool halves_linear = false;   // the lanes of each half are half_stride apart, which is not 0
  // low bits of the OR of all distances; with `low`, they give the alignment
  std::uint32_t low_bits = 0;
  std::int32_t half_stride = 0;     // narrow: bytes between lanes of the first half; 0: irregular
  Mask mask = 0;                    // lanes with an address; 0: not computed yet
  std::int64_t stride = 0;          // linear: bytes between lanes
  std::uint64_t low = 0, high = 0;  // smallest and largest address, compared as signed numbers
  std::uint64_t moved_by = 0;       // the last change of `low`
  // incremented by describe(); while it is the same, only `low` may change
  std::uint64_t generation = 0;

  /// Address of each lane minus `low`. Undefined for lanes that are not in the mask.
  alignas(64) std::array<std::uint64_t, warp_size> distance;
  alignas(64) std::array<std::int32_t, warp_size> narrow_distance;  // if `narrow`

  std::uint64_t address(int lane) const { return low + distance[lane]; }

  /// Computes the shape of the addresses of `lanes`, ignoring the other lanes.
  void describe(Mask lanes, const std::uint64_t* address);
  /// Moves the shape, with the same distances, to another address.
  void move_to(std::uint64_t address) {
    moved_by = address - low;
    high += moved_by;
    low = address;
  }

  /// The distinct distances. Computed at the first call.
  const std::array<Unique, warp_size>& unique_distances();
  int uniques() {
    unique_distances();
    return uniques_;
  }

  /// Wavefronts of a shared-memory access of `bytes` bytes per lane (model/banks.hpp).
  int wavefronts(std::uint32_t bytes, std::int64_t offset, bool load) {
    // Shifting all lanes only matters within a four-byte bank.
    const auto phase = static_cast<std::uint32_t>(low + static_cast<std::uint64_t>(offset)) & 3;
    std::uint8_t& known = wavefronts_[load ? 1 : 0][place_of_wavefronts(bytes, phase)];
    if (known == 0) known = count_wavefronts(bytes, phase, load);
    return known;
  }
  /// Wavefronts of ldmatrix or stmatrix: one request per matrix, with eight lanes' rows of 16
  /// bytes.
  int matrix_wavefronts(int matrices);
  /// Sectors of a global-memory access. They depend only on the position within a sector.
  int sectors(std::uint32_t bytes, std::int64_t offset) {
    const std::uint64_t begin = low + static_cast<std::uint64_t>(offset);
    const int known = sectors_bytes_ == bytes ? sectors_[begin % sectors_.size()] : 0;
    return known != 0 ? known : count_sectors(bytes, begin);
  }

  // The position of the distances in a block's read log (happens_before/shared_shadow.hpp), if they
  // are in it.
  const ReadLog* log = nullptr;
  std::uint64_t log_generation = 0;
  std::uint32_t logged_at = 0;

 private:
  /// Wavefronts by a closed formula; 0 if the shape has none.
  int regular_wavefronts(std::uint32_t bytes, bool load) const;
  /// Cache index for the wavefronts of an aligned access whose addresses are `phase` bytes after a
  /// word boundary. Only small accesses have several phases.
  static std::size_t place_of_wavefronts(std::uint32_t bytes, std::uint32_t phase) {
    const auto size = static_cast<std::size_t>(std::countr_zero(bytes));
    return size < 2 ? 4 * size + phase : 6 + size % 8;
  }
  std::uint8_t count_wavefronts(std::uint32_t bytes, std::uint32_t phase, bool load);
  int word_wavefronts();
  int regular_sectors(std::uint32_t bytes, std::uint64_t begin) const;
  int count_sectors(std::uint32_t bytes, std::uint64_t begin);

  std::array<Unique, warp_size> unique_;
  int uniques_ = 0;  // 0: not computed yet
  // For stores and loads, by place_of_wavefronts(); 0: unknown.
  std::array<std::array<std::uint8_t, 16>, 2> wavefronts_{};
  std::array<std::uint8_t, 5> matrix_wavefronts_{};  // by number of matrices; 0: unknown
  // Sectors of accesses of sectors_bytes_, by the position of `low` within a sector; 0: unknown.
  std::uint32_t sectors_bytes_ = 0;  // 0: unknown
  std::array<std::uint8_t, 32> sectors_;
};

}  // namespace rung::vgpu
