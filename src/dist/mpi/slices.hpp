#pragma once
// The parts of C between which a rank looks at its messages.

#include <algorithm>
#include <cstdint>

namespace rung::dist {

/// As few as will do, because the operands of each part are packed again. On a Xeon, parts of 4096 x 128
/// take 1.2 times as long as the whole.
struct Slices {
  std::int64_t rows, cols;

  /// At least `looks` of them, and none with more than `most_work` multiply-adds. They tend to be square.
  static Slices of(std::int64_t rows, std::int64_t cols, std::int64_t depth, std::int64_t looks) {
    constexpr std::int64_t most_work = std::int64_t{1} << 31;  // some 50 ms of a core in f64
    constexpr std::int64_t least = 64;
    Slices slices = {std::max<std::int64_t>(rows, 1), std::max<std::int64_t>(cols, 1)};
    for (std::int64_t count = 1; count < looks || slices.rows * slices.cols * depth > most_work;
         count *= 2) {
      std::int64_t& longer = slices.rows > slices.cols ? slices.rows : slices.cols;
      if (longer <= least) break;
      longer = (longer / 2 + least - 1) / least * least;
    }
    return slices;
  }
};

}  // namespace rung::dist
