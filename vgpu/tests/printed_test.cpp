// The remaining output of kernels if the printf ring is too small for all of it.

#include "vgpu/model/printed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace rung::vgpu {
namespace {

PrintRing ring_of(std::size_t capacity, const std::vector<std::string>& calls) {
  PrintRing ring(capacity);
  for (const std::string& call : calls) ring.add(call);
  return ring;
}

TEST(PrintRing, LosesTheOldestCallsWhole) {
  EXPECT_EQ(ring_of(9, {"one\n", "two\n", "six\n"}).text(), "two\nsix\n");
  EXPECT_EQ(ring_of(12, {"one\n", "two\n", "six\n"}).text(), "one\ntwo\nsix\n");
  EXPECT_EQ(ring_of(3, {"one\n"}).text(), "");
  EXPECT_EQ(ring_of(0, {"", "x"}).text(), "");
}

TEST(PrintedByBlock, KeepsTheSameInWhateverOrderBlocksEnd) {
  const std::vector<std::vector<std::string>> calls = {
      {"abc"}, {"defgh", "ij"}, {"klmno"}, {"", "p"}};
  std::vector<std::size_t> order = {0, 1, 2, 3};
  do {
    PrintedByBlock printed(10);
    for (const std::size_t block : order) printed.add(block, ring_of(10, calls[block]));
    EXPECT_EQ(printed.text(), "ijklmnop");
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace rung::vgpu
