// mma.sp without .kind against plain sums of the expanded matrix, with metadata as CUTLASS stores it (PTX ISA, 9.7.14.6).

#include <fmt/format.h>

#include <array>
#include <random>

#include "vgpu/tests/launch_fixture.hpp"
#include "vgpu/tests/matrix_fixture.hpp"
#include "vgpu/tests/mma_fragments.hpp"

namespace rung::vgpu {
namespace {

using matrix_tests::decode_float;

class SparseMultiplyTest : public LaunchTest {
 protected:
  SparseMultiplyTest() { device = parse_device("h200"); }

  struct Case {
    MatrixElement a, b, sum;
    int k, selector = 0;
    bool ordered = false;
  };
  std::mt19937 random{5};

  static constexpr const char* names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8",
                                          "u8",  "s4",   "u4",   "f32",  "s32",  "f64"};
  static const char* name(MatrixElement type) { return names[static_cast<std::size_t>(type)]; }
  static std::string mnemonic(const Case& it) {
    return fmt::format("mma.sp{}.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{}",
                       it.ordered ? "::ordered_metadata" : "", it.k, name(it.sum), name(it.a),
                       name(it.b), name(it.sum));
  }
  static std::string registers(const char* prefix, int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
    return "{" + list + "}";
  }
  static MatrixForm stored(const Case& it) {
    return {16,
            8,
            static_cast<std::uint8_t>(it.k / 2),
            it.a,
            it.b,
            it.sum,
            it.sum,
            MatrixMode::nearest};
  }

  static std::string kernel(const Case& it) {
    std::string text = R"(
      .reg .b64 %rd<4>; .reg .b32 %r0, %a<8>, %b<8>, %c<4>, %d<4>, %e;
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      mov.u32 %r0, %tid.x;
      mul.wide.u32 %rd3, %r0, 64;
      add.u64 %rd1, %rd1, %rd3;
      add.u64 %rd2, %rd2, %rd3;
      ld.global.u32 %e, [%rd1+48];
)";
    for (int i = 0; i < 4; ++i) {
      text += fmt::format(
          "ld.global.u32 %a{0}, [%rd1+{1}]; ld.global.u32 %b{0}, [%rd1+{2}]; "
          "ld.global.u32 %c{0}, [%rd1+{3}];\n",
          i, 4 * i, 4 * i + 16, 4 * i + 32);
    }
    const int of_a = 16 * it.k / 2 / 32 / per_register(it.a);
    const int of_sum = 4 / per_register(it.sum);
    text += fmt::format("{} {}, {}, {}, {}, %e, {:#x};\n", mnemonic(it), registers("%d", of_sum),
                        registers("%a", of_a), registers("%b", of_a), registers("%c", of_sum),
                        it.selector);
    for (int i = 0; i < of_sum; ++i)
      text += fmt::format("st.global.u32 [%rd2+{}], %d{};\n", 4 * i, i);
    text = entry(".param .u64 x, .param .u64 y", text + "ret;");
    return text.replace(0, text.find(".address_size"), ".version 8.5\n.target sm_90\n");
  }

  /// The word that a lane holds of metadata by row and chunk, in the order in which CUTLASS stores them for these
  /// instructions (reorder_meta): words of 16 bits for wide elements, of 32 for bytes.
  static std::array<std::uint32_t, 32> metadata(const Case& it,
                                                const std::uint32_t (&bits)[16][16]) {
    const bool is_wide = element_bits(it.a) > 8;
    const int per_word = is_wide ? 4 : 8, columns = 2;
    const int chunks = it.k / (it.a == MatrixElement::tf32 ? 2 : 4);
    std::array<std::uint32_t, 32> words{};
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < columns; ++column) {
        // A narrow instruction takes the column, or the pair of lanes, that its selector names.
        const int first = chunks == per_word ? column - it.selector : column;
        if (first < 0 || first * per_word >= chunks) continue;
        std::uint32_t word = 0;
        for (int i = 0; i < per_word; ++i) word |= bits[row][first * per_word + i] << (4 * i);
        int to_row = is_wide ? row % 8 * 4 + row / 8 : row % 8 * 2 + row / 8, to_column = column;
        if (to_row % 2 == 0 && to_column % 2 == 1) {
          ++to_row;
          --to_column;
        } else if (to_row % 2 == 1 && to_column % 2 == 0) {
          --to_row;
          ++to_column;
        }
        const int lane = is_wide ? to_row : to_row * 2 + to_column;
        words[static_cast<std::size_t>(lane)] |= word << (is_wide ? 16 * to_column : 0);
      }
    }
    // Rows 16 to 31 of a tile are the other instruction's: the second pair of lanes of wide elements.
    if (is_wide && chunks == 8 && it.selector == 1) {
      for (std::size_t lane = 0; lane < 32; lane += 4) {
        words[lane + 2] = words[lane];
        words[lane + 3] = words[lane + 1];
        words[lane] = words[lane + 1] = 0;
      }
    }
    return words;
  }

  void expect_sums(const Case& it) {
    SCOPED_TRACE(mnemonic(it));
    const bool is_tf32 = it.a == MatrixElement::tf32;
    const int of_chunk = is_tf32 ? 1 : 2, chunks = it.k / (2 * of_chunk);
    double a[16][64] = {}, packed[16][32] = {}, b[64][8], c[16][8];
    std::uint32_t bits[16][16] = {};
    constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int row = 0; row < 16; ++row) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const auto& pair = pairs[is_tf32 ? random() % 2 * 5 : random() % 6];
        bits[row][chunk] = static_cast<std::uint32_t>(pair[0] | pair[1] << 2);
        for (int i = 0; i < of_chunk; ++i) {
          const int k = chunk * 2 * of_chunk + (is_tf32 ? pair[0] / 2 : pair[i]);
          a[row][k] = packed[row][chunk * of_chunk + i] = matrix_tests::random_value(it.a, random);
        }
      }
    }
    for (auto& line : b) {
      for (double& element : line) element = matrix_tests::random_value(it.b, random);
    }
    for (auto& line : c) {
      for (double& element : line) element = matrix_tests::random_value(it.sum, random);
    }
    std::vector<std::uint32_t> words(32 * 16);
    const MatrixForm form = stored(it);
    const int per_a = per_register(it.a), per_sum = per_register(it.sum);
    const int of_lane = 16 * it.k / 2 / 32;
    const auto of_metadata = metadata(it, bits);
    const auto sum_bits = [&](double value) {
      return it.sum == MatrixElement::s32
                 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                 : matrix_tests::encode(it.sum, value);
    };
    for (int lane = 0; lane < 32; ++lane) {
      std::uint32_t* const own = words.data() + lane * 16;
      for (int i = 0; i < of_lane; ++i) {
        const int shift = i % per_a * 32 / per_a;
        const MatrixPlace at = matrix_tests::place_in_a(form, lane, i);
        own[i / per_a] |= matrix_tests::encode(it.a, packed[at.row][at.column]) << shift;
        // B has as many elements; its second half follows the first.
        const int half = i / (of_lane / 2);
        const MatrixPlace in_b = matrix_tests::place_in_b(form, lane, i % (of_lane / 2));
        own[4 + i / per_a] |= matrix_tests::encode(it.b, b[in_b.row + half * it.k / 2][in_b.column])
                              << shift;
      }
      for (int i = 0; i < 4; ++i) {
        const MatrixPlace at = matrix_tests::place_in_c(form, lane, i);
        own[8 + i / per_sum] |= sum_bits(c[at.row][at.column]) << (i % per_sum * 16);
      }
      own[12] = of_metadata[static_cast<std::size_t>(lane)];
    }
    const std::uint64_t x = array(words), y = memory.allocate(32 * 64);
    expect_none(run(kernel(it), {1, 1, 1}, {32, 1, 1}, {x, y}));
    const auto result = values<std::uint32_t>(y, 32 * 16);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const MatrixPlace at = matrix_tests::place_in_c(form, lane, i);
        double sum = c[at.row][at.column];
        for (int k = 0; k < it.k; ++k) sum += a[at.row][k] * b[k][at.column];
        const std::uint32_t word = result[static_cast<std::size_t>(lane * 16 + i / per_sum)];
        const double is = it.sum == MatrixElement::s32 ? static_cast<std::int32_t>(word)
                          : it.sum == MatrixElement::f16
                              ? decode_float(word >> (i % 2 * 16) & 0xFFFF, 5, 10)
                              : std::bit_cast<float>(word);
        EXPECT_EQ(is, sum) << at.row << ", " << at.column;
      }
    }
  }
};

TEST_F(SparseMultiplyTest, MultipliesEveryTypeAndShape) {
  using enum MatrixElement;
  for (const MatrixElement sum : {f32, f16}) {
    for (int selector = 0; selector < 2; ++selector) {
      expect_sums({f16, f16, sum, 16, selector});
      expect_sums({f16, f16, sum, 32, selector, true});
    }
  }
  expect_sums({bf16, bf16, f32, 32});
  expect_sums({tf32, tf32, f32, 8, 1});
  expect_sums({tf32, tf32, f32, 16});
  expect_sums({s8, u8, s32, 32});
  expect_sums({u8, s8, s32, 64});
  expect_sums({e4m3, e5m2, f32, 64});
}

TEST_F(SparseMultiplyTest, RefusesFormsThatDoNotExist) {
  using enum MatrixElement;
  for (const Case& it : {Case{f16, f16, f32, 64}, Case{e4m3, e4m3, f32, 32},
                         Case{f16, bf16, f32, 32}, Case{f16, f16, f32, 32, 2}}) {
    const auto loaded = Module::load(kernel(it), "test.ptx", memory);
    EXPECT_THROW(loaded->kernel("k"), std::invalid_argument) << mnemonic(it);
  }
}

}  // namespace
}  // namespace rung::vgpu
