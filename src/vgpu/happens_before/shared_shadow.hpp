#pragma once
// For each granule of a block's shared memory: who wrote it last, and which two threads read it
// since. Two different readers are enough: whoever writes next differs from one of them.
//
// Most reads need not be looked at. Between two barriers a kernel usually reads what was written
// before the first; so reads go to a log, which is thrown away at the next barrier, and is worked
// through only when something writes to where they read before that.

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/happens_before/order.hpp"
#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// Shared memory as 64 regions: a bit each.
using Regions = std::uint64_t;

struct ReadBatch;

/// A read by one warp, or a batch of them (model/kernel.hpp), which then says the site, the bytes
/// and what to add to `low`.
struct LoggedRead {
  const ReadBatch* batch = nullptr;
  std::uint32_t site = 0, segment;
  std::uint32_t low;              // offset of the first address, or of what `unique` counts from
  std::int32_t stride;            // linear: bytes from lane to lane
  std::uint32_t unique, uniques;  // scattered: where in ReadLog::unique, how many
  std::uint16_t warp;
  std::uint8_t bytes = 0;
  Shape::Kind kind;
};

struct ReadLog {
  std::vector<LoggedRead> reads;
  std::vector<Shape::Unique> unique;  // addresses of scattered shapes, each shape's once
  Regions regions = 0;                // where the reads are
  std::uint64_t generation = 1;       // changes when the log is emptied (Shape::log_generation)

  void clear() {
    reads.clear();
    unique.clear();
    regions = 0;
    ++generation;
  }
};

struct SharedShadow {
  int granule = 4;             // bytes, a power of two
  int granule_shift = 2;       // its logarithm
  std::vector<Stamp> written;  // 0: never written
  std::vector<Stamp> first_reader, other_reader;
  std::vector<std::uint32_t> write_site, first_read_site, other_read_site;

  ReadLog log;
  Regions written_since_barrier = 0;
  Regions unwritten = 0;  // some granule has never been written
  int region_shift = 6;   // logarithm of a region's bytes

  /// A block begins with memory that nobody has written.
  void start(std::uint32_t bytes, int granule_bytes);
  /// All threads of the block met.
  void meet_all() {
    log.clear();
    written_since_barrier = 0;
  }
  /// Keeps what is written and forgets who did: stamps of an exhausted order.
  void forget();

  /// Those that bytes `low` to `last` lie in.
  Regions regions(std::uint64_t low, std::uint64_t last) const {
    const int first_bit = static_cast<int>(low >> region_shift);
    const int last_bit = static_cast<int>(last >> region_shift);
    return (~Regions{0} << first_bit) & (~Regions{0} >> (63 - last_bit));
  }
  /// Where a read has to be checked against writes.
  Regions suspect() const { return written_since_barrier | unwritten; }
  /// A granule is written for the first time.
  void count_first_write(std::size_t at) {
    const std::size_t region = (at << granule_shift) >> region_shift;
    if (--left_[region] == 0) unwritten &= ~(Regions{1} << region);
  }
  /// The same for those of these granules that nobody has written yet.
  void count_first_writes(std::size_t first, std::size_t count);

 private:
  std::array<std::uint32_t, 64> left_{};  // by region: granules that nobody has written
};

}  // namespace rung::vgpu
