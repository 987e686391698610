// wgmma of every type against a plain product, with the layouts that the PTX ISA states (9.7.15.5):
// matrices in shared memory with each swizzle, K-major and MN-major, and in registers.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "vgpu/layout.hpp"
#include "vgpu/tests/async_fixture.hpp"
#include "vgpu/tests/matrix_fixture.hpp"

namespace rung::vgpu {
namespace {

using matrix_tests::decode;
using matrix_tests::encode;
using matrix_tests::Matrix;
using matrix_tests::random_matrix;
using Element = MatrixElement;

/// The layout in shared memory of a matrix of `lines` (rows of A, columns of B) by k elements.
struct Layout {
  int span;         // bytes of the swizzle; 0: none
  bool transposed;  // MN-major: lines are contiguous, not k

  int leading = 0, stride = 0;  // bytes
  int bytes = 0;

  Layout(int span_, bool transposed_, int lines, int element_bytes)
      : span(span_), transposed(transposed_) {
    if (!transposed) {
      // Groups of 8 lines, 8 x span bytes each; without a swizzle, 128 bytes followed by the next
      // 128 along k.
      stride = span != 0 ? 8 * span : 256;
      leading = span != 0 ? 16 : 128;
      bytes = lines / 8 * stride;
    } else if (span != 0) {
      // Columns of span bytes, 8 deep; then the next 8 steps of k; then the next columns along the
      // lines.
      stride = 8 * span;
      leading = 2 * stride;
      bytes = (lines * element_bytes + span - 1) / span * leading;
    } else {
      stride = 256;
      leading = 128;
      bytes = lines * element_bytes / 16 * stride;
    }
  }

  /// The offset of an element: the canonical layouts of the PTX ISA, in units of 16 bytes, then the
  /// swizzle of the address.
  int offset(int line, int k, int element_bytes) const {
    const int along = (transposed ? line : k) * element_bytes;
    const int across = transposed ? k : line;
    const int unit = along / 16, inside = along % 16;
    int address = 0;
    if (!transposed && span == 0) address = across % 8 * 16 + across / 8 * stride + unit * leading;
    if (!transposed && span != 0) address = across % 8 * span + across / 8 * stride + unit * 16;
    if (transposed && span == 0) address = across % 8 * 16 + across / 8 * leading + unit * stride;
    if (transposed && span != 0) {
      const int units = span / 16;
      address =
          across % 8 * span + across / 8 * stride + unit % units * 16 + unit / units * leading;
    }
    const int line_of_128 = address / 128;
    if (span == 32) address ^= line_of_128 % 2 * 16;
    if (span == 64) address ^= line_of_128 % 4 * 16;
    if (span == 128) address ^= line_of_128 % 8 * 16;
    return address + inside;
  }

  std::uint64_t descriptor(int start) const {
    const std::uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return static_cast<std::uint64_t>(start >> 4) | static_cast<std::uint64_t>(leading >> 4) << 16 |
           static_cast<std::uint64_t>(stride >> 4) << 32 | mode << 62;
  }
};

void place(std::vector<std::uint8_t>& image, int at, Element type, double value) {
  const std::uint32_t bits = encode(type, value);
  for (int i = 0; i < element_bits(type) / 8; ++i) {
    image[static_cast<std::size_t>(at + i)] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
}

struct Case {
  const char* name;  // shape and types
  Element a, d;
  int n, k;
  int span = 128;
  bool transpose_a = false, transpose_b = false;
  bool a_in_registers = false;
  int scale_a = 1, scale_b = 1;
};

class WgmmaTest : public AsyncTest {
 protected:
  std::mt19937 random{7};

  static std::string list(const char* prefix, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
    return "{" + text + "}";
  }

  /// A kernel in which one warpgroup computes A B + C once. Each thread loads C from memory into
  /// registers and stores D.
  std::string kernel(const Case& each, const Layout& a, const Layout& b, int registers_of_d,
                     int image_bytes) {
    const std::string prefix = each.d == Element::f32 ? "%f" : "%d";
    std::string loads, stores;
    for (int i = 0; i < registers_of_d; ++i) {
      loads += fmt::format("ld.global.b32 {}{}, [%rd4+{}];\n", prefix, i, 4 * i);
      stores += fmt::format("st.global.b32 [%rd4+{}], {}{};\n", 4 * i, prefix, i);
    }
    for (int i = 0; i < 4; ++i) loads += fmt::format("ld.global.b32 %a{}, [%rd7+{}];\n", i, 4 * i);
    std::string tail;
    if (each.d != Element::s32) tail += fmt::format(", {}, {}", each.scale_a, each.scale_b);
    if (element_bits(each.a) == 16) {
      if (!each.a_in_registers) tail += each.transpose_a ? ", 1" : ", 0";
      tail += each.transpose_b ? ", 1" : ", 0";
    }
    return entry(".param .u64 image, .param .u64 c, .param .u64 a",
                 ".shared .align 1024 .b8 data[" + std::to_string(image_bytes) + "];\n" +
                     registers() + ".reg .b32 %d<136>, %a<4>;\n" + R"(
      ld.param.u64 %rd1, [image];
      ld.param.u64 %rd2, [c];
      ld.param.u64 %rd3, [a];
      mov.u32 %r1, %tid.x;
      mad.wide.u32 %rd4, %r1, )" +
                     std::to_string(4 * registers_of_d) + R"(, %rd2;
      mad.wide.u32 %rd7, %r1, 16, %rd3;
      mov.u32 %r2, data;
      shl.b32 %r3, %r1, 4;
      COPY: cvt.u64.u32 %rd5, %r3;
      add.u64 %rd6, %rd1, %rd5;
      ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd6];
      add.u32 %r4, %r2, %r3;
      st.shared.v4.u32 [%r4], {%r10, %r11, %r12, %r13};
      add.u32 %r3, %r3, 2048;
      setp.lt.u32 %p1, %r3, )" +
                     std::to_string(image_bytes) + R"(;
      @%p1 bra COPY;
      fence.proxy.async;
      bar.sync 0;
      )" + loads +
                     fmt::format("mov.u64 %rd10, {:#x};\nmov.u64 %rd11, {:#x};\n", a.descriptor(0),
                                 b.descriptor(each.a_in_registers ? 0 : a.bytes)) +
                     "setp.eq.u32 %p2, %r1, %r1;\nwgmma.fence.sync.aligned;\n" +
                     fmt::format("wgmma.mma_async.sync.aligned.{} {}, {}, %rd11, %p2{};\n",
                                 each.name, list(prefix.c_str(), registers_of_d),
                                 each.a_in_registers ? list("%a", 4) : "%rd10", tail) +
                     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" +
                     stores + "ret;");
  }

  /// The layouts that vgpu/layout.hpp describes, from which rung layout draws, are those here.
  static void expect_explained(const Case& each, const Layout& in_a, const Layout& in_b) {
    const int bytes = element_bits(each.a) / 8;
    const auto compare = [&](const Layout& in, int lines, bool transposed) {
      for (const auto& chunk : layout::operand_chunks(
               {layout::decode(in.descriptor(0)), each.a, lines, each.k, transposed})) {
        ASSERT_EQ(chunk.address,
                  static_cast<std::uint32_t>(in.offset(chunk.at[1], chunk.at[0], bytes)));
      }
      EXPECT_EQ(encode(layout::decode(in.descriptor(0))), in.descriptor(0));
    };
    compare(in_b, each.n, each.transpose_b);
    if (!each.a_in_registers) compare(in_a, 64, each.transpose_a);
    const std::string shape = fmt::format("m64n{}k{}", each.n, each.k);
    for (const auto& slot : layout::fragment("wgmma", shape, each.a, each.d, 'D').slots) {
      const int i = slot.reg * per_register(each.d) + slot.index;
      ASSERT_EQ((MatrixPlace{slot.row, slot.column}), place_in_d(slot.thread, i));
    }
    for (const auto& slot : layout::fragment("wgmma", shape, each.a, each.d, 'A').slots) {
      ASSERT_EQ((MatrixPlace{slot.row, slot.column}),
                place_in_a(each, slot.thread, slot.reg, slot.index));
    }
  }

  // Fragments: thread 4 g + t of warp w holds rows 16 w + g and 16 w + g + 8.
  static MatrixPlace place_in_d(int thread, int i) {
    const int row = thread / 32 * 16 + thread % 32 / 4 + (i / 2 % 2) * 8;
    return {row, i / 4 * 8 + thread % 4 * 2 + i % 2};
  }
  static MatrixPlace place_in_a(const Case& each, int thread, int reg, int index) {
    const int per = 32 / element_bits(each.a);
    return {thread / 32 * 16 + thread % 32 / 4 + reg % 2 * 8,
            (reg / 2 * 4 + thread % 4) * per + index};
  }

  void check(const Case& each) {
    SCOPED_TRACE(fmt::format("{} span {} {}{}{}", each.name, each.span,
                             each.transpose_a ? "A^T " : "", each.transpose_b ? "B^T " : "",
                             each.a_in_registers ? "registers" : ""));
    const int bytes = element_bits(each.a) / 8, m = 64;
    const Layout in_a(each.span, each.transpose_a, m, bytes);
    const Layout in_b(each.span, each.transpose_b, each.n, bytes);
    Matrix a = random_matrix(m, each.k, each.a, random);
    Matrix b = random_matrix(each.k, each.n, each.a, random);
    Matrix c = random_matrix(m, each.n, each.d, random);
    const int base = each.a_in_registers ? 0 : in_a.bytes;
    const int image_bytes = (base + in_b.bytes + 2047) / 2048 * 2048;
    std::vector<std::uint8_t> image(static_cast<std::size_t>(image_bytes));
    for (int k = 0; k < each.k; ++k) {
      for (int i = 0; i < m && base != 0; ++i) {
        place(image, in_a.offset(i, k, bytes), each.a, a.at({i, k}));
      }
      for (int j = 0; j < each.n; ++j) {
        place(image, base + in_b.offset(j, k, bytes), each.a, b.at({k, j}));
      }
    }
    expect_explained(each, in_a, in_b);
    const int per_register = each.d == Element::f16 ? 2 : 1;
    const int registers_of_d = each.n / 2 / per_register;
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(128 * registers_of_d), 0);
    std::vector<std::uint32_t> fragments(128 * 4, 0);
    const int sum_bits = 32 / per_register;
    const auto code = [&](double value) {
      return each.d == Element::s32 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                                    : encode(each.d, value);
    };
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < each.n / 2; ++i) {
        sums[static_cast<std::size_t>(thread * registers_of_d + i / per_register)] |=
            code(c.at(place_in_d(thread, i))) << (i % per_register * sum_bits);
      }
      const int per = 4 / bytes;  // elements per register of A
      for (int i = 0; i < 4 * per; ++i) {
        const MatrixPlace at = place_in_a(each, thread, i / per, i % per);
        fragments[static_cast<std::size_t>(thread * 4 + i / per)] |= encode(each.a, a.at(at))
                                                                     << (i % per * 8 * bytes);
      }
    }
    const std::uint64_t c_at = array(sums);
    const LaunchReport report = run(kernel(each, in_a, in_b, registers_of_d, image_bytes),
                                    {1, 1, 1}, {128, 1, 1}, {array(image), c_at, array(fragments)});
    expect_none(report);
    const auto lines = static_cast<std::uint64_t>(each.n + (each.a_in_registers ? 0 : 64));
    EXPECT_EQ(report.counters.tensor_multiply_adds,
              static_cast<std::uint64_t>(64 * each.n * each.k));
    EXPECT_EQ(report.counters.wgmma_shared_load_bytes, lines * 32) << "B once for the warpgroup";
    EXPECT_EQ(report.counters.wgmma_shared_load_wavefronts, lines / 4);
    for (double& value : a.values) value *= each.scale_a * each.scale_b;
    Matrix expected = matrix_tests::multiply_add(a, b, c);
    const auto results = values<std::uint32_t>(c_at, sums.size());
    int wrong = 0;
    for (int thread = 0; thread < 128; ++thread) {
      for (int i = 0; i < each.n / 2; ++i) {
        const std::uint32_t word =
            results[static_cast<std::size_t>(thread * registers_of_d + i / per_register)];
        const double value = each.d == Element::s32
                                 ? static_cast<std::int32_t>(word)
                                 : decode(each.d, word >> (i % per_register * sum_bits));
        wrong += value == expected.at(place_in_d(thread, i)) ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0) << "of " << 64 * each.n;
  }

  /// D as bits, for uniform A, B and C: all elements of D are equal.
  std::uint32_t uniform(const std::string& name, Element a, Element d, int k, std::uint32_t a_word,
                        std::uint32_t b_word, std::uint32_t c_word) {
    const Case each{name.c_str(), a, d, 8, k};
    const int bytes = element_bits(a) / 8;
    const Layout in_a(each.span, false, 64, bytes), in_b(each.span, false, each.n, bytes);
    const int image_bytes = (in_a.bytes + in_b.bytes + 2047) / 2048 * 2048;
    std::vector<std::uint32_t> image(static_cast<std::size_t>(image_bytes) / 4, b_word);
    std::fill_n(image.begin(), in_a.bytes / 4, a_word);
    const int registers_of_d = d == Element::f16 ? 2 : 4;
    const std::uint64_t c_at =
        array(std::vector<std::uint32_t>(static_cast<std::size_t>(128 * registers_of_d), c_word));
    expect_none(run(kernel(each, in_a, in_b, registers_of_d, image_bytes), {1, 1, 1}, {128, 1, 1},
                    {array(image), c_at, array(std::vector<std::uint32_t>(128 * 4))}));
    const auto results =
        values<std::uint32_t>(c_at, static_cast<std::size_t>(128 * registers_of_d));
    for (const std::uint32_t word : results) EXPECT_EQ(word, results[0]);
    return results[0];
  }
};

TEST_F(WgmmaTest, EverySwizzleBothWaysRound) {
  for (const int span : {0, 32, 64, 128}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        check({"m64n64k16.f32.bf16.bf16", Element::bf16, Element::f32, 64, 16, span, transpose_a,
               transpose_b});
      }
    }
  }
}

TEST_F(WgmmaTest, EveryType) {
  using enum Element;
  check({"m64n8k16.f32.f16.f16", f16, f32, 8, 16});
  check({"m64n16k16.f16.f16.f16", f16, f16, 16, 16});
  check({"m64n24k8.f32.tf32.tf32", tf32, f32, 24, 8});
  check({"m64n16k32.s32.s8.s8", s8, s32, 16, 32});
  check({"m64n32k32.s32.u8.u8", u8, s32, 32, 32});
  check({"m64n16k32.f32.e4m3.e4m3", e4m3, f32, 16, 32});
  check({"m64n16k32.f16.e5m2.e5m2", e5m2, f16, 16, 32});
  check({"m64n256k16.f32.bf16.bf16", bf16, f32, 256, 16});
}

TEST_F(WgmmaTest, AFromRegisters) {
  using enum Element;
  Case each{"m64n16k16.f32.bf16.bf16", bf16, f32, 16, 16};
  each.a_in_registers = true;
  check(each);
  each.transpose_b = true;
  check(each);
  Case tf{"m64n16k8.f32.tf32.tf32", tf32, f32, 16, 8};
  tf.a_in_registers = true;
  check(tf);
  Case bytes{"m64n16k32.s32.s8.s8", s8, s32, 16, 32};
  bytes.a_in_registers = true;
  check(bytes);
}

TEST_F(WgmmaTest, NegatedOperands) {
  Case each{"m64n16k16.f32.bf16.bf16", Element::bf16, Element::f32, 16, 16};
  each.scale_a = -1;
  check(each);
  each.scale_b = -1;
  check(each);
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
constexpr std::uint32_t nan_bits = 0x7FFFFFFF;

TEST_F(WgmmaTest, IntegersWrapAroundOrStop) {
  using enum Element;
  const std::string plain = "m64n8k32.s32.s8.s8", stopping = "m64n8k32.satfinite.s32.s8.s8";
  const auto of = [&](const std::string& name, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return uniform(name, s8, s32, 32, a, b, c);
  };
  EXPECT_EQ(of(plain, 0x80808080, 0x80808080, 0), 32u * 16384);
  EXPECT_EQ(of(plain, 0x7F7F7F7F, 0x7F7F7F7F, 0x7FFFFFFF), 0x7FFFFFFFu + 32 * 127 * 127);
  EXPECT_EQ(of(stopping, 0x7F7F7F7F, 0x7F7F7F7F, 0x7FFFFFFF), 0x7FFFFFFFu);
  EXPECT_EQ(of(plain, 0x80808080, 0x7F7F7F7F, 0x80000000), 0x80000000u - 32 * 128 * 127);
  EXPECT_EQ(of(stopping, 0x80808080, 0x7F7F7F7F, 0x80000000), 0x80000000u);
  EXPECT_EQ(of("m64n8k32.s32.u8.u8", 0xFFFFFFFF, 0xFFFFFFFF, 1), 32u * 255 * 255 + 1);
  EXPECT_EQ(of("m64n8k32.s32.u8.s8", 0xFFFFFFFF, 0x80808080, 0), 0u - 32 * 255 * 128);
}

TEST_F(WgmmaTest, EndsOfEightBitFloats) {
  using enum Element;
  const auto of = [&](const std::string& types, std::uint32_t a, std::uint32_t b) {
    return uniform("m64n8k32.f32." + types, e4m3, f32, 32, a * 0x01010101, b * 0x01010101, 0);
  };
  // e4m3: the largest number is 448, the smallest 2^-9; no infinity, one NaN of each sign.
  EXPECT_EQ(of("e4m3.e4m3", 0x7E, 0x7E), bits(32 * 448 * 448.0f));
  EXPECT_EQ(of("e4m3.e4m3", 0x01, 0x81), bits(-0x1p-13f));
  EXPECT_EQ(of("e4m3.e4m3", 0x7F, 0x00), nan_bits);
  EXPECT_EQ(of("e4m3.e4m3", 0x38, 0xFF), nan_bits);
  // e5m2: like f16, from 2^-16 to 57344.
  EXPECT_EQ(of("e5m2.e5m2", 0x7B, 0x7B), bits(32 * 57344 * 57344.0f));
  EXPECT_EQ(of("e5m2.e5m2", 0x01, 0x01), bits(0x1p-27f));
  EXPECT_EQ(of("e5m2.e5m2", 0x7C, 0xBC), bits(-std::numeric_limits<float>::infinity()));
  EXPECT_EQ(of("e5m2.e5m2", 0x7C, 0x00), nan_bits);
  EXPECT_EQ(of("e5m2.e5m2", 0x7E, 0x3C), nan_bits);
  // Mixed types, in both orders.
  EXPECT_EQ(of("e4m3.e5m2", 0x38, 0x3E), bits(48));
  EXPECT_EQ(of("e5m2.e4m3", 0x3E, 0x38), bits(48));
  EXPECT_EQ(uniform("m64n8k32.f16.e4m3.e4m3", e4m3, f16, 32, 0x7E7E7E7E, 0x7E7E7E7E, 0),
            0x7C007C00u);
}

TEST_F(WgmmaTest, Tf32IgnoresTheLowBits) {
  using enum Element;
  EXPECT_EQ(uniform("m64n8k8.f32.tf32.tf32", tf32, f32, 8, bits(1.5f) | 0x1FFF,
                    bits(-2.0f) | 0x1FFF, bits(1)),
            bits(-23));
}

}  // namespace
}  // namespace rung::vgpu
