#pragma once
// What a launch has recorded of an allocation by rows (observers/row_stamps.hpp).

#include <cstddef>
#include <cstdint>

namespace rung::vgpu {

/// Only for launches on one CPU thread. With several, all granules have stamps of their own.
struct RecordedRows {
  std::uint64_t launch = 0;        // by its first block; what follows is of this launch
  std::size_t begin = 0, end = 0;  // the recorded rows are among these
  std::uint32_t count = 0;         // how many there are,
  std::uint32_t apart = 0;         // and how many rows whose granules have stamps
  bool all_apart = false;          // there are no rows any more
  bool stays_apart = false;        // nor will there be in later launches
};

}  // namespace rung::vgpu
