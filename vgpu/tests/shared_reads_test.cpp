// Threads read two words of shared memory and write one, at random addresses: races are reported
// if, and only if, two threads collide. Many writes are distinguished from earlier reads by
// comparisons of ranges and distances alone (observers/shared_read_log.cpp).

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint32_t threads = 96, words = 1024;

/// The addresses that the threads of a case access.
struct Case {
  std::uint32_t factor = 1, flip = 0;  // written word: (t * factor) ^ flip, also read
  std::uint32_t other_factor = 1, other_flip = 0, shift = 0;  // second word to read
  std::uint32_t idle_bits = 0;  // only threads with none of these bits access

  bool is_active(std::uint32_t t) const { return (t & idle_bits) == 0; }
  std::uint32_t written(std::uint32_t t) const { return (t * factor ^ flip) % words; }
  std::uint32_t other(std::uint32_t t) const {
    return ((t * other_factor ^ other_flip) + shift) % words;
  }

  bool races() const {
    std::array<int, words> writers{}, writer{};
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (!is_active(t)) continue;
      ++writers[written(t)];
      writer[written(t)] = static_cast<int>(t);
    }
    if (*std::max_element(writers.begin(), writers.end()) > 1) return true;
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (!is_active(t) || writers[other(t)] == 0) continue;
      if (writer[other(t)] != static_cast<int>(t)) return true;
    }
    return false;
  }
};

/// All words are written before a barrier. After it, each thread reads its word and the other one,
/// and writes its own number to its word.
const std::string reads_and_write = entry(
    ".param .u64 f, .param .u64 x, .param .u64 g, .param .u64 y, .param .u64 d, .param .u64 idle",
    R"(
    .shared .align 4 .b8 s[4096];
    .reg .b32 %r<30>; .reg .pred %p<4>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mov.u32 %r3, %r1;
fill:
    shl.b32 %r4, %r3, 2;
    add.s32 %r4, %r4, %r2;
    st.shared.u32 [%r4], %r3;
    add.s32 %r3, %r3, 96;
    setp.lt.u32 %p1, %r3, 1024;
    @%p1 bra fill;
    bar.sync 0;
    ld.param.u32 %r5, [f];
    ld.param.u32 %r6, [x];
    ld.param.u32 %r7, [g];
    ld.param.u32 %r8, [y];
    ld.param.u32 %r9, [d];
    ld.param.u32 %r10, [idle];
    mul.lo.u32 %r11, %r1, %r5;
    xor.b32 %r11, %r11, %r6;
    and.b32 %r11, %r11, 1023;
    shl.b32 %r11, %r11, 2;
    add.s32 %r11, %r11, %r2;
    mul.lo.u32 %r12, %r1, %r7;
    xor.b32 %r12, %r12, %r8;
    add.s32 %r12, %r12, %r9;
    and.b32 %r12, %r12, 1023;
    shl.b32 %r12, %r12, 2;
    add.s32 %r12, %r12, %r2;
    and.b32 %r13, %r1, %r10;
    setp.ne.u32 %p2, %r13, 0;
    @%p2 bra done;
    ld.shared.u32 %r14, [%r11];
    ld.shared.u32 %r15, [%r12];
    add.u32 %r16, %r14, %r15;
    mad.lo.u32 %r16, %r1, 100000, %r16;
    st.shared.u32 [%r11], %r16;
done:
    ret;)");

class SharedReads : public LaunchTest {
 protected:
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }

  Case some_case() {
    Case c;
    c.factor = 1 + pick(4);
    c.flip = pick(3) == 0 ? pick(64) : 0;
    c.other_factor = pick(3) == 0 ? pick(5) : c.factor;
    c.other_flip = pick(3) == 0 ? pick(64) : c.flip;
    c.shift = pick(4) == 0 ? pick(8) : 1u << pick(9);
    c.idle_bits = pick(3) == 0 ? 0 : (1u << pick(5)) - 1;
    return c;
  }

 private:
  std::mt19937 random_{20261127};
};

TEST_F(SharedReads, RacesAreFoundExactly) {
  int racing = 0;
  constexpr int cases = 1500;
  for (int i = 0; i < cases; ++i) {
    const Case c = some_case();
    const LaunchReport report =
        run(reads_and_write, {1, 1, 1}, {threads, 1, 1},
            {c.factor, c.flip, c.other_factor, c.other_flip, c.shift, c.idle_bits});
    ASSERT_EQ(!report.hazards.empty(), c.races())
        << "word t * " << c.factor << " ^ " << c.flip << ", and (t * " << c.other_factor << " ^ "
        << c.other_flip << ") + " << c.shift << ", without bits " << c.idle_bits;
    racing += c.races() ? 1 : 0;
  }
  EXPECT_GT(racing, cases / 8);
  EXPECT_LT(racing, cases - cases / 8);
}

}  // namespace
}  // namespace rung::vgpu
