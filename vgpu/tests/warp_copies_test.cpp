// Accesses of whole warps, which are copied and checked as vectors, with addresses of every shape.

#include <fmt/format.h>

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class WarpCopiesTest : public LaunchTest {
 protected:
  /// Thread t copies `bytes` bytes at bytes * (t ^ flip) through `space`, as elements of `type`.
  void expect_copied(const std::string& space, const std::string& type, int count, int bytes,
                     int flip) {
    SCOPED_TRACE(fmt::format("{} {} x {}, flip {}", space, type, count, flip));
    const std::size_t words = static_cast<std::size_t>(bytes) / 4 * 64;
    std::vector<std::uint32_t> data(words);
    for (std::size_t i = 0; i < words; ++i) data[i] = static_cast<std::uint32_t>(1000 + i);
    const std::uint64_t in = array(data), copy = array(std::vector<std::uint32_t>(words));
    const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
    std::string list = "%v0";
    for (int e = 1; e < count; ++e) list += ", %v" + std::to_string(e);
    if (count > 1) list = "{" + list + "}";
    const std::string middle =
        space == "global" ? ""
                          : fmt::format("st.{0}{1}.{2} [%r2], {3}; ld.{0}{1}.{2} {3}, [%r2];",
                                        space, vector, type, list);
    const LaunchReport report = run(
        entry(".param .u64 p, .param .u64 q",
              fmt::format(R"(
      .shared .align 16 .b8 s[1024]; .local .align 16 .b8 l[1024];
      .reg .b32 %r<4>; .reg .b64 %p, %q, %o; .reg .{0} %v<4>;
      ld.param.u64 %p, [p]; ld.param.u64 %q, [q];
      mov.u32 %r1, %tid.x; xor.b32 %r1, %r1, {1}; mul.lo.u32 %r1, %r1, {2};
      mov.u32 %r2, {3}; add.u32 %r2, %r2, %r1; cvt.u64.u32 %o, %r1;
      add.s64 %p, %p, %o; add.s64 %q, %q, %o;
      ld.global{4}.{0} {5}, [%p]; {6} st.global{4}.{0} [%q], {5}; ret;)",
                          type, flip, bytes, space == "local" ? "l" : "s", vector, list, middle)),
        {1, 1, 1}, {64, 1, 1}, {in, copy});
    for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
    EXPECT_EQ(values<std::uint32_t>(copy, words), data);
  }

  /// Runs two warps. Thread t has t in %r1, s + 4 t in %r2 and out + 4 t in %q.
  LaunchReport run_shared(const std::string& body) {
    out = array(std::vector<std::uint32_t>(64, 7));
    return run(entry(".param .u64 q", R"(
      .shared .align 16 .b8 s[1024]; .reg .b32 %r<9>; .reg .b64 %q, %o; .reg .pred %p<3>;
      ld.param.u64 %q, [q]; mov.u32 %r1, %tid.x; shl.b32 %r3, %r1, 2; cvt.u64.u32 %o, %r3;
      mov.u32 %r2, s; add.u32 %r2, %r2, %r3; add.s64 %q, %q, %o;)" +
                                          body + " ret;"),
               {1, 1, 1}, {64, 1, 1}, {out});
  }

  std::uint64_t out = 0;
};

TEST_F(WarpCopiesTest, EveryShapeAndWidth) {
  for (const char* space : {"global", "shared", "local"}) {
    for (const int flip : {0, 5, 31}) {
      for (const int count : {1, 2, 4}) expect_copied(space, "b32", count, 4 * count, flip);
      for (const int count : {1, 2}) expect_copied(space, "b64", count, 8 * count, flip);
    }
  }
}

// Lanes 8 to 31 of the first warp, and the whole second warp, in three iterations with different
// addresses.
TEST_F(WarpCopiesTest, LanesOfADivergentLoop) {
  const LaunchReport report = run_shared(R"(
      mov.u32 %r4, 0; setp.lt.u32 %p1, %r1, 8; @%p1 bra $end;
    $turn: st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r2]; st.global.u32 [%q], %r5;
      add.u32 %r2, %r2, 256; add.u32 %r4, %r4, 1;
      setp.lt.u32 %p2, %r4, 3; @%p2 bra $turn;
    $end: bar.sync 0;)");
  EXPECT_TRUE(report.hazards.empty());
  const auto found = values<std::uint32_t>(out, 64);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(found[t], t < 8 ? 7 : t);
  EXPECT_EQ(report.counters.shared_store_requests, 6u);
  EXPECT_EQ(report.counters.shared_store_wavefronts, 6u);
  EXPECT_EQ(report.counters.global_store_sectors, 3u * (3 + 4));
}

TEST_F(WarpCopiesTest, AThreadMayWriteWhatItAloneHasRead) {
  const std::string own =
      "st.shared.u32 [%r2], %r1; bar.sync 0; ld.shared.u32 %r5, [%r2]; st.shared.u32 [%r2], %r5;";
  EXPECT_TRUE(run_shared(own).hazards.empty());
  // The neighbour has also read it, in the same warp or in the other one.
  for (const char* const neighbour : {"4", "128"}) {
    const LaunchReport report = run_shared(
        fmt::format("st.shared.u32 [%r2], %r1; bar.sync 0; xor.b32 %r6, %r3, {}; mov.u32 %r7, s;"
                    "add.u32 %r7, %r7, %r6; ld.shared.u32 %r5, [%r7]; st.shared.u32 [%r2], %r1;",
                    neighbour));
    EXPECT_FALSE(report.hazards.empty()) << neighbour;
  }
}

TEST_F(WarpCopiesTest, AsynchronousCopiesOfLanesToOnePlace) {
  const std::string wait = "cp.async.wait_all; bar.sync 0; ld.shared.u32 %r5, [%r2];";
  EXPECT_TRUE(run_shared("cp.async.ca.shared.global [%r2], [%q], 4;" + wait).hazards.empty());
  EXPECT_FALSE(
      run_shared("st.shared.u32 [%r2], %r1; and.b32 %r6, %r3, 248; mov.u32 %r7, s; bar.sync 0;"
                 "add.u32 %r7, %r7, %r6; cp.async.ca.shared.global [%r7], [%q], 4;" +
                 wait)
          .hazards.empty());
}

}  // namespace
}  // namespace rung::vgpu
