// Reads of shared memory are logged, and recorded granule by granule once a write may overlap them.

#include <algorithm>
#include <cstdlib>

#include "vgpu/observers/shared_races.hpp"

namespace rung::vgpu {
namespace {

void note_read(SharedShadow& shadow, std::size_t granule, Stamp stamp, std::uint32_t site,
               Stamp safe) {
  const Stamp before = shadow.first_reader[granule];
  const bool keep = before >= safe && stamp_thread(before) != stamp_thread(stamp);
  (keep ? shadow.other_reader : shadow.first_reader)[granule] = stamp;
  (keep ? shadow.other_read_site : shadow.first_read_site)[granule] = site;
}

/// Records a read of one granule by each lane, starting at `first`.
void note_row(SharedShadow& shadow, std::size_t first, Stamp stamp, std::uint32_t site,
              Stamp safe) {
  Stamp* const readers = shadow.first_reader.data() + first;
  Stamp* const others = shadow.other_reader.data() + first;
  std::uint32_t* const sites = shadow.first_read_site.data() + first;
  std::uint32_t* const other_sites = shadow.other_read_site.data() + first;
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {  // like note_read(), without branches
    const Stamp before = readers[lane], own = stamp + lane;
    const bool keep = (before >= safe) & (((before ^ own) & stamp_thread_mask) != 0);
    readers[lane] = keep ? before : own;
    sites[lane] = keep ? sites[lane] : site;
    others[lane] = keep ? own : others[lane];
    other_sites[lane] = keep ? site : other_sites[lane];
  }
}

/// Records a logged read of `bytes` bytes, `shift` bytes from the logged address.
void note_logged(Block& block, const LoggedRead& read, std::int64_t shift, std::uint32_t bytes,
                 std::uint32_t site) {
  SharedShadow& shadow = block.shadow;
  const Stamp safe = block.order.safe_below(read.warp);
  const std::uint32_t low = read.low + static_cast<std::uint32_t>(shift);
  const auto note = [&](std::uint32_t offset, int lane) {
    const Stamp stamp = make_stamp(read.segment, read.warp * warp_size + lane);
    const std::size_t last = (offset + bytes - 1u) >> shadow.granule_shift;
    for (std::size_t at = offset >> shadow.granule_shift; at <= last; ++at) {
      note_read(shadow, at, stamp, site, safe);
    }
  };
  switch (read.kind) {
    case Shape::Kind::uniform:
      note(low, 0);
      note(low, 1);
      break;
    case Shape::Kind::linear:
      if (read.stride == static_cast<std::int32_t>(bytes) && read.stride == shadow.granule) {
        const Stamp stamp = make_stamp(read.segment, read.warp * warp_size);
        note_row(shadow, low >> shadow.granule_shift, stamp, site, safe);
        break;
      }
      for (int lane = 0; lane < warp_size; ++lane) {
        note(low + static_cast<std::uint32_t>(read.stride * lane), lane);
      }
      break;
    case Shape::Kind::scattered:
      for (std::uint32_t i = 0; i < read.uniques; ++i) {
        const Shape::Unique& unique = shadow.log.unique[read.unique + i];
        const std::uint32_t offset = low + static_cast<std::uint32_t>(unique.distance);
        note(offset, unique.first);
        if (unique.second != unique.first) note(offset, unique.second);
      }
      break;
  }
}

void note_logged(Block& block, const LoggedRead& read) {
  if (read.batch == nullptr) {
    note_logged(block, read, 0, read.bytes, read.site);
    return;
  }
  for (const MemoryOp* op : read.batch->reads) {
    note_logged(block, read, op->offset, op->access_bytes(), op->site);
  }
}

// Maximum length: a longer log is processed, so that it does not grow without bound in the absence
// of barriers.
constexpr std::size_t longest_log = 1 << 14;

void settle_all(Block& block) {
  block.shadow.has_readers = true;
  for (const LoggedRead& read : block.shadow.log.reads) note_logged(block, read);
  block.shadow.log.clear();
}

/// Adds an entry for a read or a batch, `offset` bytes from the shape's addresses.
LoggedRead& log_shape(Block& block, const Warp& warp, Shape& shape, std::int64_t offset) {
  ReadLog& log = block.shadow.log;
  if (log.reads.size() >= longest_log) settle_all(block);
  LoggedRead& read = log.reads.emplace_back();
  read.segment = block.order.segment(warp.index);
  read.warp = static_cast<std::uint16_t>(warp.index);
  read.kind = shape.kind;
  const std::uint64_t base = shape.stride < 0 ? shape.high : shape.low;
  read.low = static_cast<std::uint32_t>(base + static_cast<std::uint64_t>(offset));
  read.span = static_cast<std::uint32_t>(shape.high - shape.low);
  read.low_bits = shape.low_bits;
  read.stride = static_cast<std::int32_t>(shape.stride);
  if (shape.kind == Shape::Kind::scattered) {
    read.uniques = static_cast<std::uint32_t>(shape.uniques());
    if (shape.log != &log || shape.log_generation != log.generation) {
      shape.log = &log;
      shape.log_generation = log.generation;
      shape.logged_at = static_cast<std::uint32_t>(log.unique.size());
      const auto& unique = shape.unique_distances();
      log.unique.insert(log.unique.end(), unique.begin(), unique.begin() + read.uniques);
    }
    read.unique = shape.logged_at;
  }
  return read;
}

/// A write by all lanes of a shape, compared with logged reads.
class WriteAmongReads {
 public:
  WriteAmongReads(const Warp& warp, const Shape& shape, std::int64_t offset, std::uint32_t bytes)
      : warp_(warp),
        shape_(shape),
        base_(base_of(shape, offset)),
        begin_(static_cast<std::int64_t>(shape.low) + offset),
        end_(static_cast<std::int64_t>(shape.high) + offset + bytes),
        bytes_(bytes) {}

  /// True if only the writer of each byte can have read it in this entry.
  bool misses(const LoggedRead& read, const ReadLog& log) const {
    const std::int64_t low = std::int64_t{read.low} - (read.stride < 0 ? read.span : 0);
    const std::int64_t first = low + (read.batch != nullptr ? read.batch->begin : 0);
    const std::int64_t last =
        low + read.span + (read.batch != nullptr ? read.batch->end : std::int64_t{read.bytes});
    if (last <= begin_ || end_ <= first) return true;
    return read.batch == nullptr && (is_own(read, log) || is_between(read, low));
  }

 private:
  static std::uint32_t base_of(const Shape& shape, std::int64_t offset) {
    const std::uint64_t base = shape.stride < 0 ? shape.high : shape.low;
    return static_cast<std::uint32_t>(base + static_cast<std::uint64_t>(offset));
  }

  /// True if each lane has read exactly what it writes.
  bool is_own(const LoggedRead& read, const ReadLog& log) const {
    if (read.warp != warp_.index || read.bytes != bytes_ || read.low != base_) return false;
    if (read.kind != shape_.kind) return false;
    if (read.kind == Shape::Kind::linear) {
      return read.stride == shape_.stride &&
             std::abs(read.stride) >= static_cast<std::int32_t>(bytes_);
    }
    return read.kind == Shape::Kind::scattered && bytes_ <= widest_aligned && shape_.log == &log &&
           shape_.log_generation == log.generation && read.unique == shape_.logged_at &&
           read.uniques == static_cast<std::uint32_t>(lanes_in(shape_.mask));
  }

  /// True if all addresses of one access are between those of the other: the lanes' distances are
  /// multiples of a power of two, and the other access fits in the gaps.
  bool is_between(const LoggedRead& read, std::int64_t low) const {
    const std::uint32_t bits = read.low_bits | shape_.low_bits;
    const std::uint32_t unit = bits & (~bits + 1);
    if (unit == 0) return false;
    const auto shift = static_cast<std::uint32_t>(begin_ - low) & (unit - 1);  // of the write
    return shift >= read.bytes && unit - shift >= bytes_;
  }

  const Warp& warp_;
  const Shape& shape_;
  const std::uint32_t base_;        // see LoggedRead::low
  const std::int64_t begin_, end_;  // from the first byte to one past the last
  const std::uint32_t bytes_;
};

}  // namespace

void log_read(Block& block, const Warp& warp, std::uint32_t site, Shape& shape, std::int64_t offset,
              std::uint32_t bytes) {
  LoggedRead& read = log_shape(block, warp, shape, offset);
  read.site = site;
  read.bytes = static_cast<std::uint8_t>(bytes);
}

void log_reads(Block& block, const Warp& warp, const ReadBatch& batch, Shape& shape) {
  log_shape(block, warp, shape, 0).batch = &batch;
}

void settle_reads(Block& block, Regions regions) {
  if ((block.shadow.log.regions & regions) != 0) settle_all(block);
}

void settle_reads_before(Block& block, const Warp& warp, const Shape& shape, std::int64_t offset,
                         std::uint32_t bytes) {
  constexpr std::size_t few = 64;  // maximum number of reads to compare a write with
  const ReadLog& log = block.shadow.log;
  const WriteAmongReads write(warp, shape, offset, bytes);
  const bool apart = log.reads.size() <= few &&
                     std::all_of(log.reads.begin(), log.reads.end(),
                                 [&](const LoggedRead& read) { return write.misses(read, log); });
  if (!apart) settle_all(block);
}

}  // namespace rung::vgpu
