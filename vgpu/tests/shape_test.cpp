// Compares shapes of random addresses with loops over lanes. Runs under each instruction set.

#include "vgpu/model/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "vgpu/model/banks.hpp"

namespace rung::vgpu {
namespace {

using Addresses = std::array<std::uint64_t, warp_size>;

/// Random addresses of several kinds, and masks, often of all lanes.
class Cases {
 public:
  Addresses addresses() {
    const std::uint64_t begin = 0x7000'0000'0000 + pick(1024) * 4;
    const auto gap = static_cast<std::uint64_t>(pick(7) * 4) - 8, half = pick(3) * 512;
    const std::uint64_t kind = pick(6), far = pick(8) == 0 ? std::uint64_t{1} << 33 : 0;
    Addresses address;
    for (std::uint64_t lane = 0; lane < warp_size; ++lane) {
      std::uint64_t at = lane * gap;
      if (kind == 1) at = lane % 16 * gap + lane / 16 * half;
      if (kind == 2) at = lane / 16 * half;
      if (kind == 3) at = pick(1000) * 4;
      if (kind == 4) at = pick(8) * 4;
      if (kind == 5) at = pick(3) * 32;
      address[lane] = begin + at + (kind == 3 ? lane % 2 * far : 0);
    }
    return address;
  }
  Mask mask() {
    const Mask some = static_cast<Mask>(random_()) | 1u << pick(32);
    return pick(2) == 0   ? all_lanes
           : pick(2) == 0 ? some
                          : (some & static_cast<Mask>(random_())) | 2;
  }
  std::uint64_t pick(std::uint64_t count) { return random_() % count; }

 private:
  std::mt19937_64 random_{20261127};
};

bool are_apart(const Addresses& address, int first, int count, std::uint64_t gap) {
  for (int lane = first + 1; lane < first + count; ++lane) {
    if (address[lane] - address[lane - 1] != gap) return false;
  }
  return true;
}

std::uint32_t lowest_bit(std::uint32_t bits) { return bits & (~bits + 1); }

TEST(Shape, IsWhatLoopsOverLanesSay) {
  Cases cases;
  for (int i = 0; i < 4000; ++i) {
    const Addresses address = cases.addresses();
    const Mask mask = cases.mask();
    Shape shape;
    shape.describe(mask, address.data());
    const bool whole = mask == all_lanes;
    const std::uint64_t gap = address[1] - address[0];
    const bool regular = whole && are_apart(address, 0, warp_size, gap);
    EXPECT_EQ(shape.kind, !regular   ? Shape::Kind::scattered
                          : gap == 0 ? Shape::Kind::uniform
                                     : Shape::Kind::linear);
    EXPECT_EQ(shape.stride, regular ? static_cast<std::int64_t>(gap) : 0);
    std::vector<std::uint64_t> active;
    for (Mask left = mask; left != 0; left &= left - 1) active.push_back(address[first_lane(left)]);
    EXPECT_EQ(shape.low, *std::min_element(active.begin(), active.end()));
    EXPECT_EQ(shape.high, *std::max_element(active.begin(), active.end()));
    EXPECT_EQ(shape.narrow, shape.high - shape.low < std::uint64_t{1} << 31);
    std::uint64_t bits = 0;
    for (const std::uint64_t at : active) bits |= at - shape.low;
    EXPECT_EQ(lowest_bit(shape.low_bits), lowest_bit(static_cast<std::uint32_t>(bits)));
    for (Mask left = mask; left != 0; left &= left - 1) {
      ASSERT_EQ(shape.address(first_lane(left)), address[first_lane(left)]);
    }
    const bool halves_apart = are_apart(address, 0, 16, gap) && are_apart(address, 16, 16, gap);
    EXPECT_EQ(shape.halves_linear, whole && shape.narrow && gap != 0 && halves_apart);
    EXPECT_EQ(shape.halves_uniform,
              whole && are_apart(address, 0, 16, 0) && are_apart(address, 16, 16, 0));
    EXPECT_EQ(shape.halves_agree,
              whole && std::equal(address.begin(), address.begin() + 16, address.begin() + 16));
    if (whole && shape.narrow) {
      EXPECT_EQ(shape.half_stride,
                are_apart(address, 0, 16, gap) ? static_cast<std::int32_t>(gap) : 0);
    }
  }
}

TEST(Shape, CountsDistinctAddressesAndSectors) {
  Cases cases;
  for (int i = 0; i < 4000; ++i) {
    const Addresses address = cases.addresses();
    const Mask mask = cases.mask();
    Shape shape;
    shape.describe(mask, address.data());
    std::map<std::uint64_t, std::vector<int>> lanes;
    std::set<std::uint64_t> sectors;
    const std::int64_t offset = static_cast<std::int64_t>(cases.pick(64)) * 4;
    for (Mask left = mask; left != 0; left &= left - 1) {
      const int lane = first_lane(left);
      lanes[address[lane]].push_back(lane);
      sectors.insert((address[lane] + static_cast<std::uint64_t>(offset)) / sector_bytes);
    }
    ASSERT_EQ(shape.uniques(), static_cast<int>(lanes.size()));
    int last = -1;
    for (int k = 0; k < shape.uniques(); ++k) {
      const Shape::Unique& unique = shape.unique_distances()[static_cast<std::size_t>(k)];
      const std::vector<int>& same = lanes.at(shape.low + unique.distance);
      ASSERT_EQ(unique.first, same[0]);
      ASSERT_EQ(unique.second, same[same.size() > 1 ? 1 : 0]);
      ASSERT_LT(last, unique.first);
      last = unique.first;
    }
    ASSERT_EQ(shape.sectors(4, offset), static_cast<int>(sectors.size()));
  }
}

}  // namespace
}  // namespace rung::vgpu
