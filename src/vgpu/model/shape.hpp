#pragma once
// The addresses of a warp's access as one object. Most are one address for all lanes, or a constant
// stride between lanes, and need no loop over lanes to check, count or copy.

#include <array>
#include <bit>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

struct ReadLog;

/// Determined from an address register at its first use in a basic block, and used by every access
/// through that register until it is written again, because the offsets of instructions shift all
/// lanes alike. Only all 32 lanes together can be uniform or linear.
///
/// The next warp, or the next iteration, usually has the same distances between its lanes. The
/// shape then moves to another `low`, and keeps its other properties.
struct Shape {
  enum class Kind : std::uint8_t { uniform, linear, scattered };

  /// A distinct distance of a scattered shape, and the first two lanes that have it.
  struct Unique {
    std::uint64_t distance;
    std::uint8_t first, second;  // equal if there is only one
  };

  Kind kind = Kind::uniform;
  bool narrow = false;              // distances fit in 31 bits
  bool halves_agree = false;        // lane by lane: lanes 16 apart have the same address
  bool halves_uniform = false;      // each half has one address
  bool halves_linear = false;       // both halves have lanes half_stride apart, which is not 0
  std::uint32_t low_bits = 0;       // of the OR of all distances; gives the alignment, with `low`
  std::int32_t half_stride = 0;     // narrow: bytes between lanes of the first half; 0: irregular
  Mask mask = 0;                    // lanes with an address; 0: not determined yet
  std::int64_t stride = 0;          // linear: bytes between lanes
  std::uint64_t low = 0, high = 0;  // the smallest and the largest address, as signed numbers
  std::uint64_t moved_by = 0;       // the last change of `low`
  std::uint64_t generation = 0;     // counts describe(): as long as it stays, all but `low` does

  /// From `low` to the address of each lane; undefined for lanes that are not in the mask.
  alignas(64) std::array<std::uint64_t, warp_size> distance;
  alignas(64) std::array<std::int32_t, warp_size> narrow_distance;  // the same, if narrow

  std::uint64_t address(int lane) const { return low + distance[lane]; }

  /// Determines the shape of these lanes' addresses; those of other lanes are ignored.
  void describe(Mask lanes, const std::uint64_t* address);
  /// The same distances from another address.
  void move_to(std::uint64_t address) {
    moved_by = address - low;
    high += moved_by;
    low = address;
  }

  /// The distinct distances, computed at the first call.
  const std::array<Unique, warp_size>& unique_distances();
  int uniques() {
    unique_distances();
    return uniques_;
  }

  /// Wavefronts of a shared-memory access of that many bytes per lane (model/banks.hpp).
  int wavefronts(std::uint32_t bytes, std::int64_t offset, bool load) {
    // A shift of all lanes does not matter beyond the position within a bank of four bytes.
    const auto phase = static_cast<std::uint32_t>(low + static_cast<std::uint64_t>(offset)) & 3;
    std::uint8_t& known = wavefronts_[load ? 1 : 0][place_of_wavefronts(bytes, phase)];
    if (known == 0) known = count_wavefronts(bytes, phase, load);
    return known;
  }
  /// Of ldmatrix or stmatrix, at a request for each matrix: eight lanes' rows of 16 bytes.
  int matrix_wavefronts(int matrices);
  /// Sectors of a global-memory access, likewise. They depend on the position in a sector alone.
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
  /// The wavefronts in closed form; 0 if there is none.
  int regular_wavefronts(std::uint32_t bytes, bool load) const;
  /// Where the wavefronts of an aligned access are kept, whose addresses are `phase` bytes behind a
  /// word: small ones have several phases.
  static std::size_t place_of_wavefronts(std::uint32_t bytes, std::uint32_t phase) {
    const auto size = static_cast<std::size_t>(std::countr_zero(bytes));
    return size < 2 ? 4 * size + phase : 6 + size % 8;
  }
  std::uint8_t count_wavefronts(std::uint32_t bytes, std::uint32_t phase, bool load);
  int word_wavefronts();
  int regular_sectors(std::uint32_t bytes, std::uint64_t begin) const;
  int count_sectors(std::uint32_t bytes, std::uint64_t begin);

  std::array<Unique, warp_size> unique_;
  int uniques_ = 0;  // 0: not counted yet
  // Stores and loads, by the position in a word and the bytes: place_of_wavefronts(). 0: unknown.
  std::array<std::array<std::uint8_t, 16>, 2> wavefronts_{};
  std::array<std::uint8_t, 5> matrix_wavefronts_{};  // by the number of matrices; 0: unknown
  // Sectors of accesses with this many bytes, by the position of `low` in a sector; 0: unknown.
  std::uint32_t sectors_bytes_ = 0;  // 0: none is known
  std::array<std::uint8_t, 32> sectors_;
};

}  // namespace rung::vgpu
