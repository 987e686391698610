// mma.sync with .kind against plain sums, with fragments and scales as the PTX ISA states them (9.7.14.5).

#include <fmt/format.h>

#include <array>
#include <random>

#include "vgpu/tests/launch_fixture.hpp"
#include "vgpu/tests/matrix_fixture.hpp"
#include "vgpu/tests/mma_fragments.hpp"

namespace rung::vgpu {
namespace {

using matrix_tests::decode_float;

struct Format {
  const char* name;
  int exponent, mantissa;  // bits
  int bits() const { return 1 + exponent + mantissa; }
  double value(std::uint32_t code) const { return decode_float(code, exponent, mantissa); }
};
constexpr Format e4m3{"e4m3", 4, 3}, e5m2{"e5m2", 5, 2}, e2m3{"e2m3", 2, 3}, e3m2{"e3m2", 3, 2},
    e2m1{"e2m1", 2, 1};

struct Case {
  const char* kind;
  Format a, b;
  int k = 32;
  int scales = 0;  // along k
  bool e8m0 = true;
  bool half = false;
  int byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
  bool sparse = false;

  bool has_nibbles() const { return std::string_view(kind).starts_with("mxf4"); }
  int stored() const { return sparse ? k / 2 : k; }  // elements of a row of A
};

class NarrowMultiplyTest : public LaunchTest {
 protected:
  NarrowMultiplyTest() { device = parse_device("rtx5090"); }

  std::mt19937 random{1};
  int among(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  /// A code whose value is a multiple of 1/2 and at most 4, so that all sums are exact.
  std::uint32_t code(const Format& format) {
    for (;;) {
      const auto bits = static_cast<std::uint32_t>(among(0, (1 << format.bits()) - 1));
      const double value = format.value(bits);
      if (std::abs(value) <= 4 && std::floor(2 * value) == 2 * value) return bits;
    }
  }
  std::uint32_t scale_code(bool e8m0) {
    if (e8m0) return static_cast<std::uint32_t>(among(125, 128));
    return std::array<std::uint32_t, 4>{0x30, 0x38, 0x3C,
                                        0x40}[static_cast<std::size_t>(among(0, 3))];
  }
  static double scale_value(bool e8m0, std::uint32_t code) {
    return e8m0 ? std::ldexp(1.0, static_cast<int>(code) - 127) : decode_float(code, 4, 3);
  }

  static std::string mnemonic(const Case& it) {
    std::string text = fmt::format("mma.sync.aligned.m16n8k{}.row.col.kind::{}", it.k, it.kind);
    if (it.sparse) text += ".sp::ordered_metadata";
    if (it.scales != 0) text += fmt::format(".block_scale.scale_vec::{}X", it.scales);
    const char* const sum = it.half ? "f16" : "f32";
    text += fmt::format(".{0}.{1}.{2}.{0}", sum, it.a.name, it.b.name);
    if (it.scales != 0) text += it.e8m0 ? ".ue8m0" : ".ue4m3";
    return text;
  }

  static std::string kernel(const Case& it) {
    std::string text = R"(
      .reg .b64 %rd<4>; .reg .b32 %r<24>; .reg .b16 %h<4>;
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      mov.u32 %r0, %tid.x;
      mul.wide.u32 %rd3, %r0, 64;
      add.u64 %rd1, %rd1, %rd3;
      add.u64 %rd2, %rd2, %rd3;
)";
    for (int i = 0; i < 16; ++i) {
      constexpr int of_b =
          12;  // the third and fourth register of B, and metadata, are in %r17 to %r19
      text += fmt::format("ld.global.u32 %r{}, [%rd1+{}];\n", i < of_b ? i + 1 : i + 5, 4 * i);
    }
    text += fmt::format("mov.u16 %h0, {}; mov.u16 %h1, {};\n", it.byte_a, it.thread_a);
    text += mnemonic(it) + (it.half ? " {%r13, %r14}" : " {%r13, %r14, %r15, %r16}") +
            ", {%r1, %r2, %r3, %r4}, " + (it.sparse ? "{%r5, %r6, %r17, %r18}, " : "{%r5, %r6}, ") +
            (it.half ? "{%r7, %r8}" : "{%r7, %r8, %r9, %r10}");
    if (it.sparse) text += ", %r19, 0x0";
    if (it.scales != 0) {
      text += fmt::format(", {{%r11}}, {{%h0, %h1}}, {{%r12}}, {{{}, {}}}", it.byte_b, it.thread_b);
    }
    text += ";\n";
    for (int i = 0; i < (it.half ? 2 : 4); ++i) {
      text += fmt::format("st.global.u32 [%rd2+{}], %r{};\n", 4 * i, 13 + i);
    }
    text = entry(".param .u64 x, .param .u64 y", text + "ret;");
    return text.replace(0, text.find(".address_size"), ".version 8.8\n.target sm_120a\n");
  }

  /// Element codes of A and B, and scales by row or column.
  struct Matrices {
    std::uint32_t a[16][128], b[128][8];
    std::uint32_t stored[16][64];  // of a row of A, if it is sparse
    std::uint32_t
        positions[16][16];  // of each four units, elements or pairs of 4 bits: two of two bits
    std::uint32_t scale_a[16][4], scale_b[8][4];
    float c[16][8];
  };

  Matrices matrices(const Case& it) {
    Matrices m{};
    for (auto& row : m.a) {
      for (auto& element : row) element = code(it.a);
    }
    if (it.sparse) store_sparsely(it, m);
    for (auto& row : m.b) {
      for (auto& element : row) element = code(it.b);
    }
    for (auto& scales : m.scale_a) {
      for (auto& scale : scales) scale = scale_code(it.e8m0);
    }
    for (auto& scales : m.scale_b) {
      for (auto& scale : scales) scale = scale_code(it.e8m0);
    }
    for (auto& row : m.c) {
      for (auto& element : row) element = static_cast<float>(among(-16, 16));
    }
    return m;
  }

  /// Keeps two of each four units of A.
  void store_sparsely(const Case& it, Matrices& m) {
    constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const int unit = it.has_nibbles() ? 2 : 1;
    for (int row = 0; row < 16; ++row) {
      for (int chunk = 0; chunk < it.k / (4 * unit); ++chunk) {
        const auto& pair = pairs[among(0, 5)];
        m.positions[row][chunk] = static_cast<std::uint32_t>(pair[0] | pair[1] << 2);
        int next = 2 * unit * chunk;
        for (int i = 0; i < 4 * unit; ++i) {
          std::uint32_t& element = m.a[row][4 * unit * chunk + i];
          if (i / unit == pair[0] || i / unit == pair[1]) {
            m.stored[row][next++] = element;
          } else {
            element = 0;
          }
        }
      }
    }
  }

  /// Puts a code in its position in a register: nibbles for .kind::mxf4, otherwise bytes, where a 4-bit element has bits
  /// 2 to 5.
  static void put(const Case& it, const Format& format, std::uint32_t* words, int i,
                  std::uint32_t code) {
    if (it.has_nibbles()) {
      words[i / 8] |= code << (i % 8 * 4);
    } else {
      words[i / 4] |= (format.bits() == 4 ? code << 2 : code) << (i % 4 * 8);
    }
  }

  std::vector<std::uint32_t> words_of(const Case& it, const Matrices& m) {
    const MatrixElement element = it.has_nibbles() ? MatrixElement::u4 : MatrixElement::e4m3;
    const MatrixForm form{16,
                          8,
                          static_cast<std::uint8_t>(it.stored()),
                          element,
                          element,
                          MatrixElement::f32,
                          MatrixElement::f32,
                          MatrixMode::nearest};
    std::vector<std::uint32_t> words(32 * 16);
    for (int lane = 0; lane < 32; ++lane) {
      std::uint32_t* const own = words.data() + lane * 16;
      for (int i = 0; i < it.stored() / 2; ++i) {
        const MatrixPlace at = matrix_tests::place_in_a(form, lane, i);
        put(it, it.a, own, i, it.sparse ? m.stored[at.row][at.column] : m.a[at.row][at.column]);
      }
      for (int i = 0; i < it.k / 4; ++i) {
        // The second half of B is as the first.
        const int half = i / (it.stored() / 4), within = i % (it.stored() / 4);
        const MatrixPlace at = matrix_tests::place_in_b(form, lane, within);
        put(it, it.b, half == 0 ? own + 4 : own + 12, within,
            m.b[at.row + half * it.stored()][at.column]);
      }
      // CuTe's layout of metadata: lane 4 g + 2 h + r has row g + 8 r, half h of k.
      for (int i = 0; it.sparse && i < 8; ++i) {
        own[14] |= m.positions[lane / 4 + lane % 2 * 8][lane % 4 / 2 * 8 + i] << (4 * i);
      }
      for (int i = 0; i < 4; ++i) {
        const MatrixPlace at = matrix_tests::place_in_c(form, lane, i);
        const float c = m.c[at.row][at.column];
        if (it.half) {
          own[6 + i / 2] |= matrix_tests::encode(MatrixElement::f16, c) << (i % 2 * 16);
        } else {
          own[6 + i] = std::bit_cast<std::uint32_t>(c);
        }
      }
      own[10] = own[11] = 0x7F7F7F7F;  // scales of the lanes that are not selected
    }
    place_scales(it, m, words);
    return words;
  }

  /// The lanes of a group of four that hold scales are 2 thread_a and the next for A, thread_b for B.
  static void place_scales(const Case& it, const Matrices& m, std::vector<std::uint32_t>& words) {
    const auto set = [&](int lane, int word, int byte, std::uint32_t code) {
      std::uint32_t& to = words[static_cast<std::size_t>(lane * 16 + word)];
      to = (to & ~(0xFFu << (8 * byte))) | code << (8 * byte);
    };
    for (int i = 0; i < it.scales; ++i) {
      for (int row = 0; row < 16; ++row) {
        set(row % 8 * 4 + 2 * it.thread_a + row / 8, 10, it.byte_a + i, m.scale_a[row][i]);
      }
      for (int column = 0; column < 8; ++column) {
        set(column * 4 + it.thread_b, 11, it.byte_b + i, m.scale_b[column][i]);
      }
    }
  }

  void expect_sums(const Case& it) {
    SCOPED_TRACE(mnemonic(it));
    const Matrices m = matrices(it);
    const std::uint64_t x = array(words_of(it, m)), y = memory.allocate(32 * 64);
    expect_none(run(kernel(it), {1, 1, 1}, {32, 1, 1}, {x, y}));
    const auto result = values<std::uint32_t>(y, 32 * 16);
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        double sum = m.c[row][column];
        for (int k = 0; k < it.k; ++k) {
          double product = it.a.value(m.a[row][k]) * it.b.value(m.b[k][column]);
          if (it.scales != 0) {
            const int part = k * it.scales / it.k;
            product *= scale_value(it.e8m0, m.scale_a[row][part]) *
                       scale_value(it.e8m0, m.scale_b[column][part]);
          }
          sum += product;
        }
        const int lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2;
        const std::uint32_t word =
            result[static_cast<std::size_t>(lane * 16 + (it.half ? i / 2 : i))];
        const double found = it.half ? decode_float(word >> (i % 2 * 16) & 0xFFFF, 5, 10)
                                     : std::bit_cast<float>(word);
        EXPECT_EQ(found, sum) << row << ", " << column;
      }
    }
  }
};

TEST_F(NarrowMultiplyTest, MultipliesEveryPairOfTypes) {
  for (const Format& a : {e4m3, e5m2, e2m3, e3m2, e2m1}) {
    for (const Format& b : {e4m3, e5m2, e2m3, e3m2, e2m1}) {
      expect_sums({"f8f6f4", a, b});
      expect_sums({"mxf8f6f4", a, b, 32, 1});
    }
  }
  expect_sums({.kind = "f8f6f4", .a = e2m1, .b = e5m2, .half = true});
}

TEST_F(NarrowMultiplyTest, TakesScalesFromTheBytesAndThreadsThatItNames) {
  for (int position = 0; position < 4; ++position) {
    Case it{"mxf8f6f4", e4m3, e4m3, 32, 1};
    it.byte_a = position;
    it.byte_b = 3 - position;
    it.thread_a = position % 2;
    it.thread_b = position;
    expect_sums(it);
  }
  for (const int byte : {0, 2}) {
    Case it{"mxf4", e2m1, e2m1, 64, 2};
    it.byte_a = byte;
    it.byte_b = 2 - byte;
    it.thread_a = 1;
    it.thread_b = 3;
    expect_sums(it);
  }
  expect_sums({"mxf4nvf4", e2m1, e2m1, 64, 4, false});
  expect_sums({"mxf4nvf4", e2m1, e2m1, 64, 4, true});
  expect_sums({"mxf4nvf4", e2m1, e2m1, 64, 2, true});
}

TEST_F(NarrowMultiplyTest, MultipliesSparseMatrices) {
  expect_sums({.kind = "f8f6f4", .a = e4m3, .b = e5m2, .k = 64, .sparse = true});
  expect_sums({.kind = "f8f6f4", .a = e2m1, .b = e3m2, .k = 64, .half = true, .sparse = true});
  expect_sums({.kind = "mxf8f6f4", .a = e2m3, .b = e4m3, .k = 64, .scales = 1, .sparse = true});
  expect_sums({.kind = "mxf4", .a = e2m1, .b = e2m1, .k = 128, .scales = 2, .sparse = true});
  expect_sums({.kind = "mxf4nvf4",
               .a = e2m1,
               .b = e2m1,
               .k = 128,
               .scales = 4,
               .e8m0 = false,
               .sparse = true});
}

TEST_F(NarrowMultiplyTest, RefusesFormsThatDoNotExist) {
  const auto refuses = [&](const Case& it) {
    const auto loaded = Module::load(kernel(it), "test.ptx", memory);
    EXPECT_THROW(loaded->kernel("k"), std::invalid_argument) << mnemonic(it);
  };
  refuses({"mxf8f6f4", e4m3, e4m3, 32, 2});
  refuses({"mxf8f6f4", e4m3, e4m3, 32, 1, false});
  refuses({"mxf4", e2m1, e2m1, 64, 4});
  refuses({"mxf4nvf4", e2m1, e2m1, 64, 2, false});
  refuses({"mxf4", e4m3, e2m1, 64, 2});
}

}  // namespace
}  // namespace rung::vgpu
