#pragma once
// The addresses of a warp's access, seen as a whole. Most are one address for all lanes, or a
// constant stride from lane to lane; those need no loop over lanes to check, count or copy.

#include <array>
#include <cstdint>

#include "vgpu/engine/warp.hpp"

namespace rung::vgpu {

/// Made from an address register when it is first used in a basic block, and used by every access
/// through that register until it is written again: the offsets in the instructions shift all lanes
/// alike. Only all 32 lanes together are uniform or linear.
struct Shape {
  enum class Kind : std::uint8_t { uniform, linear, scattered };

  /// An address of a scattered shape, and the first two lanes that have it.
  struct Unique {
    std::uint64_t address;
    std::uint8_t first, second;  // equal if there is only one
  };

  Kind kind = Kind::uniform;
  std::uint8_t low_bits =
      0;                    // of the distances from `low`, or-ed: alignment goes by them and `low`
  Mask mask = 0;            // lanes that have an address; not 0
  std::int64_t stride = 0;  // linear: bytes from lane to lane
  std::uint64_t low = 0, high = 0;  // the smallest and the largest address

  /// Of each lane. A uniform or linear shape writes them down when they are first asked for.
  const std::array<std::uint64_t, warp_size>& addresses();

  /// The distinct addresses, counted when first asked for.
  const std::array<Unique, warp_size>& unique_addresses();
  int uniques() {
    unique_addresses();
    return uniques_;
  }

  /// Wavefronts of a shared-memory access of so many bytes a lane (observers/banks.hpp).
  int wavefronts(std::uint32_t bytes, std::int64_t offset, bool load);

  // Where the distinct addresses are in a read log (observers/shared_shadow.hpp), if they are in
  // it.
  std::uint64_t logged_in = 0;  // its generation; 0: not logged
  std::uint32_t logged_at = 0;

  /// Before it is described anew.
  void reset(Mask lanes) {
    mask = lanes;
    logged_in = 0;
    uniques_ = 0;
    listed_ = false;
    wavefronts_.fill(0);
  }
  /// Where the addresses of a scattered shape are to be written.
  std::uint64_t* to_list() {
    listed_ = true;
    return address_.data();
  }

 private:
  /// The same in closed form; 0 if there is none.
  int regular_wavefronts(std::uint32_t bytes, bool load) const;

  alignas(64) std::array<std::uint64_t, warp_size> address_;
  bool listed_ = false;
  std::array<Unique, warp_size> unique_;
  int uniques_ = 0;                            // 0: not counted yet
  std::array<std::uint8_t, 16> wavefronts_{};  // by log2 of the bytes, loads apart; 0: not known
};

}  // namespace rung::vgpu
