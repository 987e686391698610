// The virtual GPU computes in the default floating-point environment, whatever the host program has
// set, and restores the program's environment.

#include <cfenv>
#include <functional>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

/// A kernel whose results depend on the rounding mode, on subnormal numbers, or on trapping
/// exceptions.
const std::string kernel_text = entry(".param .u64 in, .param .u64 out", R"(
    .reg .b32 %t, %a, %b, %r; .reg .b64 %in, %out, %at, %d, %e;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    ld.global.v2.b32 {%a, %b}, [%in];
    mov.u32 %t, %ctaid.x; mul.wide.u32 %at, %t, 64; add.u64 %out, %out, %at;
    add.f32 %r, %a, %b; st.global.b32 [%out], %r;
    mul.f32 %r, %b, 0f3F000000; st.global.b32 [%out+4], %r;
    div.rn.f32 %r, %a, %b; st.global.b32 [%out+8], %r;
    div.rp.f32 %r, %a, 0f40400000; st.global.b32 [%out+12], %r;
    add.f32 %r, %a, %b; st.global.b32 [%out+16], %r;
    ex2.approx.f32 %r, %a; st.global.b32 [%out+20], %r;
    sin.approx.f32 %r, %a; st.global.b32 [%out+24], %r;
    cvt.rni.s32.f32 %r, %a; st.global.b32 [%out+28], %r;
    mov.f64 %d, 0.1; st.global.b64 [%out+32], %d;
    cvt.f64.f32 %d, %a; cvt.f64.f32 %e, %b; add.f64 %d, %d, %e; st.global.b64 [%out+40], %d;
    sqrt.rn.f64 %d, %d; st.global.b64 [%out+48], %d;
    ret;)");

class FloatEnvironmentTest : public LaunchTest {
 protected:
  std::vector<std::uint32_t> results() {
    constexpr std::size_t blocks = 64, words = 16;
    const std::uint64_t in = array(std::vector<std::uint32_t>{0x40490FDB, 0x00000003});
    const std::uint64_t out = array(std::vector<std::uint32_t>(blocks * words));
    options.threads = 3;
    expect_none(run(kernel_text, {blocks, 1, 1}, {32, 1, 1}, {in, out}));
    return values<std::uint32_t>(out, blocks * words);
  }

  /// Expects the same results after `change`, in machine code and by handlers, and an unchanged
  /// environment.
  void expect_the_same_under(const std::function<void()>& change) {
    for (const bool native : {false, true}) {
      options.native = native;
      const auto right = results();
      std::fenv_t before;
      std::fegetenv(&before);
      change();
      const int mode = std::fegetround();
      std::feclearexcept(FE_ALL_EXCEPT);
      const auto found = results();
      const int mode_after = std::fegetround(), raised = std::fetestexcept(FE_ALL_EXCEPT);
#if defined(__x86_64__)
      const unsigned control = _mm_getcsr();
      change();
      EXPECT_EQ(control & ~0x3Fu, _mm_getcsr() & ~0x3Fu);
#endif
      std::fesetenv(&before);
      EXPECT_EQ(found, right) << "native: " << native;
      EXPECT_EQ(mode_after, mode);
      EXPECT_EQ(raised & (FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID), 0);
    }
  }
};

TEST_F(FloatEnvironmentTest, RoundingModesOfTheHostChangeNothing) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    expect_the_same_under([mode] { std::fesetround(mode); });
  }
}

#if defined(__x86_64__)
TEST_F(FloatEnvironmentTest, FlushingOfTheHostChangesNothing) {
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  expect_the_same_under([] { _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero); });
}
#endif

#if defined(__GLIBC__)
TEST_F(FloatEnvironmentTest, TrappedExceptionsOfTheHostDoNotEndIt) {
  expect_the_same_under([] { feenableexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID); });
}
#endif

}  // namespace
}  // namespace rung::vgpu
