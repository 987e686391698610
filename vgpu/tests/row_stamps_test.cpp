// Compares random accesses by rows with a shadow with a stamp for each granule: rows record an
// access only if it is in order with all earlier ones, and converting them gives the same stamps.

#include "vgpu/observers/row_stamps.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

namespace rung::vgpu {
namespace {

constexpr std::uint64_t granule_bytes = 4;
constexpr std::size_t bytes = 16384 + 40;  // the last row is incomplete
constexpr std::size_t granules = bytes / granule_bytes;

struct Recorded {
  GlobalStamp stamp = 0;
  std::uint16_t site = 0;

  bool operator==(const Recorded&) const = default;
};

class RowStamps : public testing::Test {
 protected:
  RowStamps() {
    allocation_.bytes = bytes;
    allocation_.stamps = stamps_.data();
  }

  std::uint64_t pick(std::uint64_t count) { return random_() % count; }

  void start_launch() {
    number_ += 4;
    oldest_ = make_global_stamp(number_, 0);
  }

  /// Allows rows, as if no launch had stopped using them.
  void allow_rows() { GlobalShadow(allocation_).rows->stays_apart = false; }

  /// A warp's access, usually by the whole warp and aligned.
  HalfWarps some_access() {
    HalfWarps halves{{}, {0xFFFF, 0xFFFF}, std::uint64_t{4} << pick(3)};
    const std::uint64_t half_bytes = halves.lane_bytes * warp_size / 2;
    const std::uint64_t places = (bytes - half_bytes) / RowStamp::bytes + 1;
    halves.begin[0] = pick(places) * RowStamp::bytes;
    const bool next = halves.begin[0] + 2 * half_bytes <= bytes && pick(4) != 0;
    halves.begin[1] = next ? halves.begin[0] + half_bytes : pick(places) * RowStamp::bytes;
    if (pick(6) == 0) halves.begin[0] += 4;
    if (pick(4) == 0) halves.lanes[pick(2)] &= static_cast<std::uint32_t>(random_());
    return halves;
  }

  /// Calls f(granule, stamp) for each granule that the access touches.
  template <class F>
  void for_each_granule(const HalfWarps& halves, GlobalStamp first, const F& f) const {
    for (std::uint64_t lane = 0; lane < warp_size; ++lane) {
      if ((halves.lanes[lane / 16] >> (lane % 16) & 1) == 0) continue;
      const std::uint64_t begin = halves.begin[lane / 16] + lane % 16 * halves.lane_bytes;
      for (std::uint64_t at = 0; at < halves.lane_bytes; at += granule_bytes) {
        f((begin + at) / granule_bytes, first + lane);
      }
    }
  }

  bool is_own(GlobalStamp found, GlobalStamp own) const {
    return found < oldest_ || (block_number_of(found) == block_number_of(own) &&
                               ((found ^ own) & stamp_thread_mask) == 0);
  }
  bool is_in_order(GlobalStamp found, GlobalStamp own, Stamp safe) const {
    return is_own(found, own) ||
           (block_number_of(found) == block_number_of(own) && within_block(found) < safe);
  }

  void expect_same(std::size_t granule) const {
    const GlobalShadow shadow(allocation_);
    const auto same = [&](const Recorded& expected, GlobalStamp stamp, std::uint16_t site) {
      if (expected.stamp < oldest_) return stamp < oldest_;
      return expected == Recorded{stamp, site};
    };
    ASSERT_TRUE(same(written_[granule], shadow.written[granule], shadow.write_site[granule]));
    ASSERT_TRUE(
        same(read_[granule], shadow.first_reader[granule], shadow.first_read_site[granule]));
  }

  /// Makes one access, recorded in the shadow by rows or by granules, and in the model.
  void access() {
    const GlobalShadow shadow(allocation_);
    const HalfWarps halves = some_access();
    const bool writes = pick(2) == 0;
    const auto time = static_cast<std::uint32_t>(1 + pick(4));
    const GlobalRow row{shadow,
                        0,
                        std::countr_zero(halves.lane_bytes / granule_bytes),
                        make_global_stamp(number_ + pick(2),
                                          make_stamp(time, static_cast<int>(pick(2)) * warp_size)),
                        oldest_,
                        make_stamp(time, 0),
                        static_cast<std::uint16_t>(pick(3))};
    const RowLaunch launch{shadow, number_, granule_bytes, oldest_};
    bool in_order = true;
    for_each_granule(halves, row.stamp, [&](std::size_t at, GlobalStamp own) {
      in_order =
          in_order && is_in_order(written_[at].stamp, own, row.safe) &&
          (writes ? is_in_order(read_[at].stamp, own, row.safe) : is_own(read_[at].stamp, own));
    });
    const bool whole = halves.lanes[0] == 0xFFFF && halves.lanes[1] == 0xFFFF;
    const bool quickly =
        has_rows(launch) && whole && pick(2) == 0 && visit_own_rows(launch, row, halves, writes);
    own_rows_ += quickly ? 1 : 0;
    const bool by_rows = quickly || (has_rows(launch) && visit_rows(launch, row, halves, writes));
    if (by_rows) {
      ++by_rows_;
      ASSERT_TRUE(in_order);
    }
    for_each_granule(halves, row.stamp, [&](std::size_t at, GlobalStamp own) {
      if (!by_rows) {
        spread_rows(launch, at * granule_bytes, (at + 1) * granule_bytes);
        expect_same(at);
      }
      if (!writes && !is_own(read_[at].stamp, own)) return;
      (writes ? written_ : read_)[at] = {own, row.site};
      if (by_rows) return;
      (writes ? shadow.written : shadow.first_reader)[at] = own;
      (writes ? shadow.write_site : shadow.first_read_site)[at] = row.site;
    });
  }

  void expect_all_same() {
    const RowLaunch launch{GlobalShadow(allocation_), number_, granule_bytes, oldest_};
    spread_rows(launch, 0, bytes);
    for (std::size_t at = 0; at < granules; ++at) expect_same(at);
  }

  int by_rows_ = 0, own_rows_ = 0;

 private:
  std::mt19937_64 random_{20261127};
  std::vector<std::uint64_t> stamps_ = std::vector<std::uint64_t>(4 * bytes);
  Allocation allocation_;
  std::uint64_t number_ = 1;  // of the launch's first block
  GlobalStamp oldest_ = make_global_stamp(1, 0);
  std::vector<Recorded> written_ = std::vector<Recorded>(granules);
  std::vector<Recorded> read_ = std::vector<Recorded>(granules);
};

TEST_F(RowStamps, SpreadToThoseOfGranules) {
  for (int launch = 0; launch < 400; ++launch) {
    allow_rows();
    start_launch();
    for (int i = 0; i < 30; ++i) access();
    expect_all_same();
    if (HasFailure()) return;
  }
  EXPECT_GT(by_rows_, 1000);
  EXPECT_GT(own_rows_, 500);
}

TEST_F(RowStamps, AnAllocationWithoutRowsStaysSo) {
  start_launch();
  for (int i = 0; i < 2000; ++i) access();
  expect_all_same();
  const int before = by_rows_;
  start_launch();
  for (int i = 0; i < 100; ++i) access();
  EXPECT_EQ(by_rows_, before);
}

}  // namespace
}  // namespace rung::vgpu
