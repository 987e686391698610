#pragma once
// The addresses of a warp's access, seen as a whole. Most are one address for all lanes, or a
// constant stride from lane to lane; those need no loop over lanes to check, count or copy.

#include <array>
#include <cstdint>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

struct ReadLog;

/// Made from an address register when it is first used in a basic block, and used by every access
/// through that register until it is written again: the offsets in the instructions shift all lanes
/// alike. Only all 32 lanes together are uniform or linear.
///
/// The next warp, or the next iteration, mostly comes with the same distances between its lanes.
/// The shape then moves to another `low`, and keeps all that is known of it.
struct Shape {
  enum class Kind : std::uint8_t { uniform, linear, scattered };

  /// A distance of a scattered shape, and the first two lanes that have it.
  struct Unique {
    std::uint64_t distance;
    std::uint8_t first, second;  // equal if there is only one
  };

  Kind kind = Kind::uniform;
  std::uint8_t low_bits = 0;        // of the distances, or-ed: alignment goes by them and `low`
  bool narrow = false;              // distances fit in 31 bits
  bool halves_agree = false;        // lane by lane: lanes 16 apart have the same address
  bool halves_uniform = false;      // each half has one address
  Mask mask = 0;                    // lanes that have an address; 0: not described yet
  std::int64_t stride = 0;          // linear: bytes from lane to lane
  std::uint64_t low = 0, high = 0;  // the smallest and the largest address, as signed numbers
  std::uint64_t moved_by = 0;       // to get here

  /// From `low` to the address of each lane; those of other lanes than the mask's mean nothing.
  alignas(64) std::array<std::uint64_t, warp_size> distance;
  alignas(64) std::array<std::int32_t, warp_size> narrow_distance;  // the same, if narrow

  std::uint64_t address(int lane) const { return low + distance[lane]; }

  /// Describes these addresses; those of other lanes may be anything.
  void describe(Mask lanes, const std::uint64_t* address);
  /// The same distances from another address.
  void move_to(std::uint64_t address) {
    moved_by = address - low;
    high += moved_by;
    low = address;
  }

  /// The different distances, counted when first asked for.
  const std::array<Unique, warp_size>& unique_distances();
  int uniques() {
    unique_distances();
    return uniques_;
  }

  /// Wavefronts of a shared-memory access of so many bytes a lane (model/banks.hpp).
  int wavefronts(std::uint32_t bytes, std::int64_t offset, bool load);
  /// Sectors of global memory, likewise.
  int sectors(std::uint32_t bytes, std::int64_t offset);

  // Where the distances are in a block's read log (happens_before/shared_shadow.hpp), if they are
  // in it.
  const ReadLog* log = nullptr;
  std::uint64_t log_generation = 0;
  std::uint32_t logged_at = 0;

 private:
  bool describe_regular(const std::uint64_t* address);
  void describe_scattered(const std::uint64_t* address);
  /// The same in closed form; 0 if there is none.
  int regular_wavefronts(std::uint32_t bytes, bool load) const;
  int regular_sectors(std::uint32_t bytes, std::uint64_t begin) const;

  std::array<Unique, warp_size> unique_;
  int uniques_ = 0;                            // 0: not counted yet
  std::array<std::uint8_t, 16> wavefronts_{};  // by log2 of the bytes, loads apart; 0: not known
  // Sectors of the last access that was counted: its bytes, where in a sector `low` was.
  std::uint32_t sectors_bytes_ = 0;  // 0: none
  std::uint32_t sectors_phase_ = 0;
  int sectors_ = 0;
};

}  // namespace rung::vgpu
