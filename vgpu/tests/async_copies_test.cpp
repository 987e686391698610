// cp.async: the copied data are visible after the wait, and not before.

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class AsyncCopiesTest : public LaunchTest {};

TEST_F(AsyncCopiesTest, HaveToBeWaitedFor) {
  const auto kernel = [](const std::string& wait) {
    return entry(".param .u64 p, .param .u64 q", R"(
    .shared .align 16 .b8 s[512];
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [q];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 16;
    add.s64 %rd4, %rd1, %rd3;
    shl.b32 %r2, %r1, 4;
    mov.u32 %r3, s;
    add.s32 %r4, %r3, %r2;
    cp.async.cg.shared.global [%r4], [%rd4], 16;
    cp.async.commit_group;
    )" + wait + R"(
    ld.shared.u32 %r5, [%r4];
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.u32 [%rd6], %r5;
    ret;)");
  };
  std::vector<int> in(128);
  for (int i = 0; i < 128; ++i) in[i] = i;
  const std::uint64_t p = array(in);
  const std::uint64_t q = memory.allocate(32 * 4);
  expect_none(run(kernel("cp.async.wait_group 0;"), {1, 1, 1}, {32, 1, 1}, {p, q}));
  const std::vector<int> out = values<int>(q, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 4 * i);
  expect_only(run(kernel(""), {1, 1, 1}, {32, 1, 1}, {p, q}), HazardKind::shared_race);
}

TEST_F(AsyncCopiesTest, ReadNoMoreThanTheirSourceHas) {
  // Lane t copies 16 bytes, reading only the first 4 t, from 4 t bytes before the end of the array.
  const auto kernel = [](int more) {
    return entry(".param .u64 p, .param .u64 q, .param .u64 end", R"(
    .shared .align 16 .b8 s[80];
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [end];
    ld.param.u64 %rd2, [q];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    cvt.u64.u32 %rd3, %r2;
    sub.s64 %rd4, %rd1, %rd3;
    and.b64 %rd4, %rd4, -16;
    add.s32 %r2, %r2, )" + std::to_string(more) +
                                                                      R"(;
    shl.b32 %r3, %r1, 4;
    mov.u32 %r4, s;
    add.s32 %r4, %r4, %r3;
    cp.async.cg.shared.global [%r4], [%rd4], 16, %r2;
    cp.async.wait_all;
    ld.shared.u32 %r5, [%r4+4];
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.u32 [%rd6], %r5;
    ret;)");
  };
  // The array ends with 12 bytes that all lanes but the last find at a multiple of 16.
  const std::uint64_t p = array(std::vector<int>{1, 2, 3, 4, 5, 6, 7});
  const std::uint64_t q = memory.allocate(4 * 4);
  const auto run_to = [&](int more) {
    return run(kernel(more), {1, 1, 1}, {4, 1, 1}, {p, q, p + 28});
  };
  expect_none(run_to(0));
  EXPECT_EQ(values<int>(q, 4), (std::vector<int>{0, 0, 6, 6}));
  expect_only(run_to(4), HazardKind::out_of_bounds);
}

}  // namespace
}  // namespace rung::vgpu
