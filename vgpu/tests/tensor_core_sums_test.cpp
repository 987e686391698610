// Compares the sums of tensor cores, computed by the rule and in SIMD code, with those recorded on
// an H200 (vgpu/tests/tensor_cores/check.cu).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "vgpu/engine/matrix/tensor_core_products.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/tests/tensor_cores/instructions.hpp"

namespace rung::tensor_cores {
namespace {

constexpr int columns = 8;

/// 16 rows of A, 8 columns of B, and C.
struct Fragment {
  std::array<std::uint32_t, vgpu::max_words * vgpu::product_rows> a{};
  std::array<std::uint32_t, vgpu::max_words * columns> b{};
  alignas(64) std::array<vgpu::ProductSums, columns> sums{};

  void multiply(Type type, int deep, const vgpu::SumRule& rule) {
    const Fragment before = *this;
    multiply_columns(type, deep, rule);
    const bool is_16_bits = element_bits(element_type(type)) == 16;
    if (!is_16_bits || deep != vgpu::fragment_steps || rule.is_half) return;
    Fragment in_fragments = before;
    if (in_fragments.multiply_fragments(type)) expect_sums(in_fragments);
  }

  /// Computes the sums in the fragment layout. Returns false if that is impossible.
  bool multiply_fragments(Type type) {
    const vgpu::TensorProducts& products = vgpu::tensor_products();
    if (products.add_fragments == nullptr) return false;
    std::uint32_t of_a[4][vgpu::warp_size], of_b[2][vgpu::warp_size];
    float of_c[4][vgpu::warp_size];
    for (int lane = 0; lane < vgpu::warp_size; ++lane) {
      const int group = lane / 4, thread = lane % 4;
      for (int i = 0; i < 4; ++i) {
        const int row = group + i % 2 * 8;
        of_a[i][lane] =
            a[static_cast<std::size_t>((thread + i / 2 * 4) * vgpu::product_rows + row)];
        of_c[i][lane] = sum_of(i, lane);
      }
      for (int i = 0; i < 2; ++i) {
        of_b[i][lane] = b[static_cast<std::size_t>(group * 8 + thread + 4 * i)];
      }
    }
    static vgpu::FragmentRows rows;
    static vgpu::FragmentColumns of_columns;
    const std::uint32_t* const a_registers[] = {of_a[0], of_a[1], of_a[2], of_a[3]};
    const std::uint32_t* const b_registers[] = {of_b[0], of_b[1]};
    const float* const from[] = {of_c[0], of_c[1], of_c[2], of_c[3]};
    float* const to[] = {of_c[0], of_c[1], of_c[2], of_c[3]};
    products.set_fragment_rows(element_type(type), a_registers, rows);
    products.set_fragment_columns(element_type(type), b_registers, of_columns);
    if (!products.add_fragments(rows, of_columns, from, to)) return false;
    for (int lane = 0; lane < vgpu::warp_size; ++lane) {
      for (int i = 0; i < 4; ++i) sum_of(i, lane) = of_c[i][lane];
    }
    return true;
  }

  void expect_sums(const Fragment& other) const {
    for (std::size_t column = 0; column < columns; ++column) {
      for (std::size_t row = 0; row < vgpu::product_rows; ++row) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(other.sums[column][row]),
                  std::bit_cast<std::uint32_t>(sums[column][row]))
            << "row " << row << ", column " << column;
      }
    }
  }

 private:
  /// Register i of C or D.
  float& sum_of(int i, int lane) {
    return sums[static_cast<std::size_t>(lane % 4 * 2 + i % 2)]
               [static_cast<std::size_t>(lane / 4 + i / 2 * 8)];
  }

  void multiply_columns(Type type, int deep, const vgpu::SumRule& rule) {
    const auto of_ab = element_type(type);
    const vgpu::TensorProducts& products = vgpu::tensor_products();
    vgpu::ProductRows rows;
    static vgpu::ColumnStorage<columns> of_b;
    products.set_rows({of_ab, false, false, deep, rule.min_exponent_a, rule.by_halves, a.data()},
                      rows);
    products.set_columns({of_ab, false, false, deep, rule.min_exponent_b, rule.by_halves, b.data()},
                         columns, of_b.elements());
    products.add_floats(rule, deep, rows, {of_b.elements(), 0, columns}, sums.data());
  }
};

vgpu::SumRule rule_of(const Instruction& instruction) {
  const auto of_ab = element_type(instruction.type);
  return vgpu::sum_rule(of_ab, of_ab,
                        instruction.is_half ? vgpu::MatrixElement::f16 : vgpu::MatrixElement::f32,
                        instruction.is_wgmma);
}

/// append_results() in SIMD code.
void append_simd_results(const Instruction& instruction, std::uint64_t number,
                         std::vector<std::uint32_t>& results) {
  constexpr int rows = vgpu::product_rows;
  for (int top = 0; top < instruction.rows(); top += rows) {
    Fragment fragment;
    for (int word = 0; word < instruction.words; ++word) {
      for (int row = 0; row < rows; ++row) {
        fragment.a[static_cast<std::size_t>(word * rows + row)] =
            word_of(instruction.type, number, 0, top + row, word, instruction.deep());
      }
      for (int column = 0; column < columns; ++column) {
        fragment.b[static_cast<std::size_t>(column * instruction.words + word)] =
            word_of(instruction.type, number, 1, column, word, instruction.deep());
      }
    }
    for (std::size_t column = 0; column < columns; ++column) {
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint32_t c = element_of_c(instruction.is_half, number,
                                             top + static_cast<int>(row), static_cast<int>(column));
        fragment.sums[column][row] =
            instruction.is_half ? vgpu::f32_of_f16(c) : std::bit_cast<float>(c);
      }
    }
    fragment.multiply(instruction.type, instruction.deep(), rule_of(instruction));
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        const float sum = fragment.sums[column][row];
        results.push_back(instruction.is_half ? vgpu::F16::nearest(sum).bits
                          : sum != sum        ? 0x7FFFFFFFu
                                              : std::bit_cast<std::uint32_t>(sum));
      }
    }
  }
}

class TensorCoreSums : public testing::TestWithParam<Instruction> {};

TEST_P(TensorCoreSums, AreThoseOfTheHardware) {
  const Instruction& instruction = GetParam();
  std::vector<std::uint32_t> results, in_simd;
  for (int fragment = 0; fragment < recorded_rows / instruction.rows(); ++fragment) {
    append_results(instruction, static_cast<std::uint64_t>(fragment), results);
    append_simd_results(instruction, static_cast<std::uint64_t>(fragment), in_simd);
  }
  EXPECT_EQ(hash_of(results), instruction.recorded);
  EXPECT_EQ(in_simd, results);
}

INSTANTIATE_TEST_SUITE_P(H200, TensorCoreSums, testing::ValuesIn(instructions),
                         [](const auto& parameter) {
                           std::string name(parameter.param.name);
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

/// Expects the result of the rule, for equal elements of A and B, and of C.
void expect_as_written(float element, float c) {
  const vgpu::SumRule rule = rule_of(instructions[2]);  // of bf16
  constexpr int deep = 16;
  const auto bits = std::bit_cast<std::uint32_t>(element) >> 16;
  Fragment fragment;
  fragment.a.fill(bits << 16 | bits);
  fragment.b.fill(bits << 16 | bits);
  for (auto& column : fragment.sums) column.fill(c);
  fragment.multiply(bf16, deep, rule);
  float row[deep], b[deep * columns], sums[columns];
  std::fill_n(row, deep, element);
  std::fill_n(b, deep * columns, element);
  std::fill_n(sums, columns, c);
  vgpu::Columns<columns> of_b;
  vgpu::set_columns(rule, deep, b, columns, of_b);
  vgpu::add_products(rule, deep, row, of_b, sums);
  for (const auto& column : fragment.sums) {
    for (const float sum : column) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(sum), std::bit_cast<std::uint32_t>(sums[0]))
          << element << " " << c;
    }
  }
}

/// A bf16 between 2^-12 and 2, or a zero, with either sign.
std::uint32_t any_bf16(std::mt19937& random) {
  const std::uint32_t bits = random(), sign = bits >> 31 << 15;
  return bits % 5 == 0 ? sign : sign | (115 + bits % 13) << 7 | (bits >> 8 & 0x7F);
}

float f32_of_bf16(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }

TEST(TensorCoreSums, CutProductsAndZerosOfEitherSignAreRight) {
  const vgpu::SumRule rule = rule_of(instructions[2]);  // of bf16
  constexpr int deep = 16, words = deep / 2, rows = vgpu::product_rows;
  std::mt19937 random(1);
  for (int number = 0; number < 100; ++number) {
    Fragment fragment;
    for (auto* const matrix : {fragment.a.data(), fragment.b.data()}) {
      const int count = words * (matrix == fragment.a.data() ? rows : columns);
      for (int i = 0; i < count; ++i) matrix[i] = any_bf16(random) | any_bf16(random) << 16;
    }
    for (auto& column : fragment.sums) {
      for (float& sum : column) sum = f32_of_bf16(any_bf16(random)) * 0x1.234p-2f;
    }
    float b[deep * columns];
    for (int i = 0; i < deep * columns; ++i) {
      const int column = i % columns, step = i / columns;
      b[i] = f32_of_bf16(fragment.b[static_cast<std::size_t>(column * words + step / 2)] >>
                             (step % 2 * 16) &
                         0xFFFF);
    }
    vgpu::Columns<columns> of_b;
    vgpu::set_columns(rule, deep, b, columns, of_b);
    const auto before = fragment.sums;
    fragment.multiply(bf16, deep, rule);
    for (std::size_t row = 0; row < rows; ++row) {
      float a[deep], sums[columns];
      for (std::size_t step = 0; step < deep; ++step) {
        a[step] = f32_of_bf16(fragment.a[step / 2 * rows + row] >> (step % 2 * 16) & 0xFFFF);
      }
      for (std::size_t column = 0; column < columns; ++column) sums[column] = before[column][row];
      vgpu::add_products(rule, deep, a, of_b, sums);
      for (std::size_t column = 0; column < columns; ++column) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(fragment.sums[column][row]),
                  std::bit_cast<std::uint32_t>(sums[column]));
      }
    }
  }
}

/// Two 16-bit elements with exponents up to `range` below `largest`; one in `zeros` is zero.
std::uint32_t any_words(std::mt19937& random, int mantissa, int largest, int range,
                        unsigned zeros) {
  std::uint32_t word = 0;
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t bits = random(), sign = bits & 0x8000;
    const auto exponent = static_cast<std::uint32_t>(
        std::max(0, largest - static_cast<int>(random() % static_cast<unsigned>(range))));
    const std::uint32_t magnitude = exponent << mantissa | (bits & ((1u << mantissa) - 1));
    word = word << 16 | sign | (random() % zeros == 0 ? 0 : magnitude);
  }
  return word;
}

struct Family {
  Type type;
  int of_a, of_b, range;  // the largest exponents as encoded, and the number of exponents
  unsigned zeros;         // one element in this many
  bool mostly_in_fragments;
};

class SumsOfFamilies : public testing::TestWithParam<Family> {};

TEST_P(SumsOfFamilies, AreAlikeInFragmentsAndInColumns) {
  const auto& [type, of_a, of_b, range, zeros, mostly] = GetParam();
  if (vgpu::tensor_products().add_fragments == nullptr)
    GTEST_SKIP() << "not for this instruction set";
  const int mantissa = type == bf16 ? 7 : 10, bias = type == bf16 ? 127 : 15;
  const vgpu::SumRule rule = rule_of(instructions[type == bf16 ? 2 : 0]);
  std::mt19937 random(7);
  int in_fragments = 0;
  constexpr int count = 200;
  for (int number = 0; number < count; ++number) {
    Fragment fragment;
    for (std::uint32_t& word : fragment.a) word = any_words(random, mantissa, of_a, range, zeros);
    for (std::uint32_t& word : fragment.b) word = any_words(random, mantissa, of_b, range, zeros);
    for (auto& column : fragment.sums) {
      for (float& sum : column) {
        const int exponent = of_a + of_b - 2 * bias + 4 - static_cast<int>(random() % 40);
        sum = std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f,
                         exponent);
      }
    }
    Fragment other = fragment;
    fragment.multiply(type, vgpu::fragment_steps, rule);
    if (!other.multiply_fragments(type)) continue;
    ++in_fragments;
    fragment.expect_sums(other);
  }
  if (mostly) {
    EXPECT_GT(in_fragments, count * 3 / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Random, SumsOfFamilies,
    testing::Values(Family{bf16, 127, 126, 8, 1000, true}, Family{bf16, 127, 126, 20, 5, true},
                    Family{bf16, 140, 100, 30, 50, true}, Family{bf16, 89, 132, 12, 9, true},
                    Family{bf16, 88, 140, 12, 9, false}, Family{bf16, 120, 120, 60, 9, false},
                    Family{bf16, 180, 190, 20, 9, true}, Family{bf16, 190, 186, 20, 9, false},
                    Family{bf16, 255, 120, 40, 9, false}, Family{bf16, 60, 60, 70, 9, false},
                    Family{f16, 15, 14, 8, 1000, true}, Family{f16, 14, 14, 16, 5, true},
                    Family{f16, 4, 30, 5, 5, true}, Family{f16, 31, 14, 20, 9, false}));

TEST(TensorCoreSums, BeyondIntegersOf32BitsAreRight) {
  const float largest = 0x1.FEp0f;  // in bf16 below 2
  for (const float sign : {1.0f, -1.0f}) {
    expect_as_written(largest, sign * 0x1.FFFFFEp0f);
    expect_as_written(largest, sign * 0x1.FFFFFEp1f);
    expect_as_written(1.5f, sign * 0x1.FFFFFEp1f);
  }
}

TEST(TensorCoreSums, NearTheEndsOfTheRangeAreRight) {
  for (int exponent = -75; exponent <= 64; ++exponent) {
    const float element = std::ldexp(0x1.BAp0f, exponent);
    for (const int above : {-30, -3, 0, 2, 27}) {
      expect_as_written(element, std::ldexp(-0x1.23456p0f, 2 * exponent + above));
    }
  }
  expect_as_written(0.0f, -0.0f);
  expect_as_written(0.0f, 0x1p-149f);
  expect_as_written(0.0f, 0x1.8p-126f);
}

}  // namespace
}  // namespace rung::tensor_cores
