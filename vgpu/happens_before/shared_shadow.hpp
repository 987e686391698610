#pragma once
// The shadow of a block's shared memory: for each granule the last writer, and two threads that
// have read it since. Two different readers suffice, because the next writer differs from one of
// them.
//
// Most reads need no check: between two barriers, a kernel usually reads what was written before
// the first. So reads go to a log. The next barrier discards it; a write to one of its regions
// before that processes it.

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/happens_before/order.hpp"
#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// A set of regions: shared memory has 64, one bit each.
using Regions = std::uint64_t;

struct ReadBatch;

/// A read by one warp, or a batch of reads (model/kernel.hpp). The batch then provides the site,
/// the bytes and an offset to add to `low`.
struct LoggedRead {
  const ReadBatch* batch = nullptr;
  std::uint32_t site = 0, segment;
  std::uint32_t low;              // offset of the first address, or the base of `unique`
  std::uint32_t span;             // from the lowest to the highest address
  std::uint32_t low_bits;         // as in Shape
  std::int32_t stride;            // linear: bytes between neighbouring lanes
  std::uint32_t unique, uniques;  // scattered: position in ReadLog::unique, and count
  std::uint16_t warp;
  std::uint8_t bytes = 0;
  Shape::Kind kind;
};

struct ReadLog {
  std::vector<LoggedRead> reads;
  std::vector<Shape::Unique> unique;  // addresses of scattered shapes, once per shape
  Regions regions = 0;                // that have reads
  std::uint64_t generation = 1;       // changes when the log is cleared (Shape::log_generation)

  void clear() {
    reads.clear();
    unique.clear();
    regions = 0;
    ++generation;
  }
};

/// Recent reads for which all bytes were written, by writes ordered before them. They need not be
/// checked again unless something was written since the last barrier.
class FoundWritten {
 public:
  /// True if a warp that knows no more than this one, with stamps below `safe`, has passed the
  /// check.
  bool has(const Shape& shape, std::uint32_t low, std::uint32_t bytes, Stamp safe) const {
    const Read& known = reads_[place_of(low)];
    return known.low == low && known.bytes == bytes && known.shape == &shape &&
           known.generation == shape.generation && known.period == period_ && known.safe <= safe;
  }
  void add(const Shape& shape, std::uint32_t low, std::uint32_t bytes, Stamp safe) {
    reads_[place_of(low)] = {&shape, shape.generation, period_, low, bytes, safe};
  }
  /// Called when memory becomes unwritten, or is written after the last barrier.
  void forget() { ++period_; }

 private:
  struct Read {
    const Shape* shape = nullptr;
    std::uint64_t generation = 0, period = 0;
    std::uint32_t low = 0, bytes = 0;  // of the shape's lowest address: offset in shared memory
    Stamp safe = 0;
  };
  static constexpr int places_shift = 6;
  static std::size_t place_of(std::uint32_t low) {
    return low * 0x9E3779B1u >> (32 - places_shift);  // Fibonacci hashing
  }

  std::array<Read, 1 << places_shift> reads_;
  std::uint64_t period_ = 1;
};

struct SharedShadow {
  int granule = 4;             // bytes, a power of two
  int granule_shift = 2;       // log2 of `granule`
  std::vector<Stamp> written;  // 0: never written
  std::vector<Stamp> first_reader, other_reader;
  bool has_readers = false;  // since the start; if false, both arrays are 0
  std::vector<std::uint32_t> write_site, first_read_site, other_read_site;
  // The last plain write before the atomics since then. Empty if no atomic followed a write.
  std::vector<Stamp> plain_write;
  std::vector<std::uint32_t> plain_write_site;

  ReadLog log;
  FoundWritten found_written;
  Regions written_since_barrier = 0;
  Regions unwritten = 0;  // regions with granules that were never written
  int region_shift = 6;   // log2 of the bytes per region

  /// Starts a block, whose memory is uninitialised.
  void start(std::uint32_t bytes, int granule_bytes);
  /// Called when all threads of the block have synchronized.
  void synchronize_all() {
    log.clear();
    written_since_barrier = 0;
  }
  /// Called when stamps are exhausted. Keeps the fact that granules were written, but not
  /// by which thread.
  void forget();

  /// The regions of bytes `low` to `last`, inclusive.
  Regions regions(std::uint64_t low, std::uint64_t last) const {
    const int first_bit = static_cast<int>(low >> region_shift);
    const int last_bit = static_cast<int>(last >> region_shift);
    return (~Regions{0} << first_bit) & (~Regions{0} >> (63 - last_bit));
  }
  /// The regions in which reads must be checked against writes.
  Regions suspect() const { return written_since_barrier | unwritten; }
  /// Called when a granule is written for the first time.
  void count_first_write(std::size_t at) {
    const std::size_t region = (at << granule_shift) >> region_shift;
    if (--left_[region] == 0) unwritten &= ~(Regions{1} << region);
  }
  /// Called after a write of an undefined value: treats the granule as not written.
  void take_back_write(std::size_t at) {
    if (written[at] == 0) return;
    written[at] = 0;
    found_written.forget();
    const std::size_t region = (at << granule_shift) >> region_shift;
    ++left_[region];
    unwritten |= Regions{1} << region;
  }
  /// Records an atomic, which does not replace what is known of the plain write before it.
  void write_atomically(std::size_t at, Stamp stamp, std::uint32_t site);
  /// The plain write before an atomic, or 0.
  Stamp plain_write_at(std::size_t at) const { return plain_write.empty() ? 0 : plain_write[at]; }
  /// Calls count_first_write() for those granules that were not written yet.
  void count_first_writes(std::size_t first, std::size_t count);

 private:
  std::array<std::uint32_t, 64> left_{};  // by region: number of granules never written
};

}  // namespace rung::vgpu
