// Two CPU threads record the first reads of a granule at the same moment: neither may be lost,
// because the next writer is compared with both.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "vgpu/happens_before/global_shadow.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/observers/global_rows.hpp"

namespace rung::vgpu {
namespace {

constexpr int rounds = 20000;
constexpr int patience = 2000;  // on a busy machine, one thread may run without the other

/// Calls f(round, thread) on two threads, which start each round together if possible. Returns, by
/// round, how many of the two calls returned true. The thread that arrives first notices the other
/// a little later, so the other waits a little longer each time.
template <class F>
std::vector<int> in_lockstep(const F& f) {
  std::atomic<int> arrived = 0;
  std::array<std::vector<int>, 2> results;
  const auto run = [&](int thread) {
    std::vector<int>& own = results[static_cast<std::size_t>(thread)];
    own.reserve(rounds);
    for (int round = 0; round < rounds; ++round) {
      const bool is_last = arrived.fetch_add(1) == 2 * round + 1;
      for (int spins = 0; arrived.load() < 2 * (round + 1) && spins < patience; ++spins) {
      }
      for (int spins = is_last ? round % 200 : 0; spins > 0; --spins) {
        // Keeps the compiler from removing the loop.
        std::atomic_signal_fence(std::memory_order_seq_cst);
      }
      own.push_back(f(round, thread) ? 1 : 0);
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  std::vector<int> sums;
  for (std::size_t i = 0; i < rounds; ++i) sums.push_back(results[0][i] + results[1][i]);
  return sums;
}

GlobalStamp stamp_of(int thread) {
  return make_global_stamp(static_cast<std::uint64_t>(1 + thread), make_stamp(1, 0));
}
const GlobalStamp oldest = make_global_stamp(1, 0);

TEST(FirstReader, OnlyOneOfTwoThreadsIsIt) {
  std::vector<GlobalStamp> places(rounds);
  const std::vector<int> claims = in_lockstep([&](int round, int thread) {
    return claim_first_reader(places[static_cast<std::size_t>(round)], stamp_of(thread), oldest);
  });
  EXPECT_EQ(claims, std::vector<int>(rounds, 1));
}

TEST(FirstReader, OnlyOneOfTwoWarpsHasTheWholeRow) {
  constexpr std::size_t bytes = std::size_t{rounds} * warp_size;  // one granule per byte
  std::vector<std::uint64_t> stamps(4 * bytes);                   // the arrays of the shadow
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.stamps = stamps.data();
  const std::vector<int> claims = in_lockstep([&](int round, int thread) {
    GlobalRow row{GlobalShadow(allocation),
                  static_cast<std::size_t>(round) * warp_size,
                  0,
                  stamp_of(thread),
                  oldest,
                  0,
                  1};
    return read_global_row(row, false);
  });
  for (const int both : claims) ASSERT_LE(both, 1);
}

TEST(FirstReader, AThreadKeepsItsPlace) {
  GlobalStamp place = make_global_stamp(1, make_stamp(1, 7));
  EXPECT_TRUE(claim_first_reader(place, make_global_stamp(1, make_stamp(2, 7)), oldest));
  EXPECT_EQ(place, make_global_stamp(1, make_stamp(2, 7)));
  EXPECT_FALSE(claim_first_reader(place, make_global_stamp(1, make_stamp(2, 8)), oldest));
  EXPECT_FALSE(claim_first_reader(place, make_global_stamp(2, make_stamp(2, 7)), oldest));
  // The stamp of a launch that starts there.
  const GlobalStamp later = make_global_stamp(3, make_stamp(1, 8));
  EXPECT_TRUE(claim_first_reader(place, later, make_global_stamp(3, 0)));
}

}  // namespace
}  // namespace rung::vgpu
