#pragma once
// What persistent blocks compute where the tiles of the last wave are cut along k, so that it keeps
// more multiprocessors busy than it has tiles. With few tiles the last wave is the only one.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/tile.cuh"

namespace rung::cuda {

/// At most so many blocks share the tiles of a last wave: those of an H200, each with its sums of
/// 128 x 256 elements, which fit the library's workspace.
inline constexpr unsigned most_sharing_blocks = 132;

/// One tile, or a part of its k.
struct Piece {
  unsigned tile;
  std::int64_t k_begin, k_end;
  int part, parts;
  unsigned cut;    // which of the tiles that are cut
  unsigned piece;  // which of their parts

  __device__ __forceinline__ std::int64_t steps() const { return k_end - k_begin; }
};

/// The pieces of all workers: blocks, or clusters of them. A worker has one part of a tile at most,
/// after its whole tiles.
class Pieces {
 public:
  __device__ __forceinline__ Pieces(unsigned tiles, std::int64_t steps, unsigned workers,
                                    unsigned most_sharing, int splits)
      : whole_(tiles), parts_(1), count_(tiles), steps_(steps) {
    if (splits == 1) return;  // divisions would take a while
    const unsigned left = tiles % workers;
    const unsigned sharing = workers < most_sharing ? workers : most_sharing;
    unsigned parts = left == 0 ? 1 : sharing / left;
    if (parts > static_cast<unsigned>(splits)) parts = static_cast<unsigned>(splits);
    if (parts > steps) parts = static_cast<unsigned>(steps);
    if (parts <= 1) return;
    whole_ = tiles - left;
    parts_ = parts;
    count_ = whole_ + left * parts;
  }

  __device__ __forceinline__ unsigned count() const { return count_; }

  /// Steps of BK along k each, but for the last ones of a tile: they end with k.
  template <int BK>
  __device__ __forceinline__ Piece at(unsigned number) const {
    if (number < whole_) return {number, 0, steps_ * BK, 0, 1, 0, 0};
    const unsigned piece = number - whole_;
    const unsigned cut = piece / parts_;
    const unsigned part = piece - cut * parts_;
    const auto steps = static_cast<unsigned>(steps_);
    const unsigned least = steps / parts_;
    const unsigned longer = steps - least * parts_;  // parts with one step more
    const unsigned begin = part * least + (part < longer ? part : longer);
    const unsigned end = begin + least + (part < longer ? 1 : 0);
    return {whole_ + cut,
            std::int64_t{begin} * BK,
            std::int64_t{end} * BK,
            static_cast<int>(part),
            static_cast<int>(parts_),
            cut,
            piece};
  }

 private:
  unsigned whole_;  // tiles that are not cut
  unsigned parts_;  // of each that is
  unsigned count_;
  std::int64_t steps_;  // of a tile
};

}  // namespace rung::cuda
