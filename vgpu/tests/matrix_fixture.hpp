#pragma once
// A warp outside of a launch, matrices, and their elements as bits, for the tests of matrix
// instructions.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/engine/matrix/matrix.hpp"
#include "vgpu/engine/matrix/wmma_layout.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu::matrix_tests {

using Element = MatrixElement;

inline ptx::Instruction instruction(const std::string& mnemonic) {
  ptx::Instruction result;
  std::istringstream words(mnemonic);
  std::string word;
  std::getline(words, word, '.');
  result.set_opcode(word);
  while (std::getline(words, word, '.')) result.modifiers.push_back(word);
  return result;
}

/// The value of a small floating-point number, from the definition of its format.
inline double decode_float(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const auto exponent = static_cast<int>((bits >> mantissa_bits) & ((1u << exponent_bits) - 1));
  const double sign = ((bits >> (exponent_bits + mantissa_bits)) & 1) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits), exponent - bias - mantissa_bits);
}

inline double decode(Element type, std::uint32_t bits) {
  switch (type) {
    case Element::f16: return decode_float(bits & 0xFFFF, 5, 10);
    case Element::bf16: return decode_float(bits & 0xFFFF, 8, 7);
    case Element::e4m3: return decode_float(bits & 0xFF, 4, 3);
    case Element::e5m2: return decode_float(bits & 0xFF, 5, 2);
    case Element::s8: return static_cast<std::int8_t>(bits & 0xFF);
    case Element::u8: return bits & 0xFF;
    case Element::s4: return (bits & 7) - ((bits & 8) != 0 ? 8.0 : 0.0);
    case Element::u4: return bits & 0xF;
    default: return std::bit_cast<float>(bits);
  }
}

/// The bits of a value that the type represents exactly.
inline std::uint32_t encode(Element type, double value) {
  if (element_bits(type) == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  static std::map<std::pair<Element, double>, std::uint32_t> known;
  if (const auto found = known.find({type, value}); found != known.end()) return found->second;
  for (std::uint32_t bits = 0; bits < (1u << element_bits(type)); ++bits) {
    if (decode(type, bits) == value) return known[{type, value}] = bits;
  }
  ADD_FAILURE() << value << " is no value of the type";
  return 0;
}

/// A value whose products and sums are exact in every type of sum, including f16.
inline double random_value(Element type, std::mt19937& random) {
  const auto among = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  switch (type) {
    case Element::s8: return among(-128, 127);
    case Element::u8: return among(0, 255);
    case Element::s4: return among(-8, 7);
    case Element::u4: return among(0, 15);
    case Element::s32: return among(-1000000, 1000000);
    default: return among(-8, 8) / 4.0;
  }
}

class TestWarp {
 public:
  explicit TestWarp(int rows) : frame_(static_cast<std::size_t>(rows) * row_size) {
    warp_.frame = frame_.front().bytes;
    warp_.mask = warp_.live = all_lanes;
  }

  template <class T>
  T& lane(int row, int lane) {
    return warp_.row<T>(offset(row))[lane];
  }
  std::uint64_t bits(Element type, int row, int in_lane) {
    return type == Element::f64 ? lane<std::uint64_t>(row, in_lane)
                                : lane<std::uint32_t>(row, in_lane);
  }

  /// Runs an instruction with these rows as operands.
  void run(const OpSpec& spec, const std::vector<int>& rows) {
    ASSERT_EQ(rows.size(), spec.operands.size());
    std::vector<std::uint32_t> offsets;
    for (const int row : rows) offsets.push_back(offset(row));
    Instr instr{};
    instr.rows = offsets.data();
    instr.imm = spec.imm;
    spec.full(warp_, instr);
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static constexpr int row_size = 4;  // in lines: 32 lanes of 8 bytes
  static std::uint32_t offset(int row) {
    return static_cast<std::uint32_t>(row) * row_size * static_cast<std::uint32_t>(sizeof(Line));
  }

  std::vector<Line> frame_;
  Warp warp_;
};

struct Matrix {
  int rows, columns;
  std::vector<double> values;

  Matrix(int rows_of, int columns_of)
      : rows(rows_of),
        columns(columns_of),
        values(static_cast<std::size_t>(rows_of * columns_of)) {}
  double& at(const MatrixPlace& place) {
    return values.at(static_cast<std::size_t>(place.row * columns + place.column));
  }
};

inline Matrix random_matrix(int rows, int columns, Element type, std::mt19937& random) {
  Matrix matrix(rows, columns);
  for (double& value : matrix.values) value = random_value(type, random);
  return matrix;
}

inline Matrix multiply_add(Matrix a, Matrix b, Matrix c) {
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.columns; ++j) {
      for (int k = 0; k < a.columns; ++k) c.at({i, j}) += a.at({i, k}) * b.at({k, j});
    }
  }
  return c;
}

/// put() and get() write and read an element of a register.
inline void put(TestWarp& warp, Element type, int row, int lane, int index, double value) {
  if (type == Element::f64) {
    warp.lane<double>(row, lane) = value;
  } else if (type == Element::s32) {
    warp.lane<std::int32_t>(row, lane) = static_cast<std::int32_t>(value);
  } else {
    const int bits = element_bits(type);
    const std::uint32_t mask = bits == 32 ? 0xFFFFFFFFu : ((1u << bits) - 1) << (bits * index);
    auto& word = warp.lane<std::uint32_t>(row, lane);
    word = (word & ~mask) | (encode(type, value) << (bits * index) & mask);
  }
}

inline double take(TestWarp& warp, Element type, int row, int lane, int index) {
  if (type == Element::f64) return warp.lane<double>(row, lane);
  if (type == Element::s32) return warp.lane<std::int32_t>(row, lane);
  return decode(type, warp.lane<std::uint32_t>(row, lane) >> (element_bits(type) * index));
}

/// The rows of the operands: D, A, B, C, one after the other.
struct RowsOf {
  int d, a, b, c, count;
  explicit RowsOf(const MatrixForm& form)
      : d(0),
        a(form.sum_registers(form.d)),
        b(a + form.a_registers()),
        c(b + form.b_registers()),
        count(c + form.sum_registers(form.c)) {}
};

inline std::vector<int> count_up(int count) {
  std::vector<int> rows(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = i;
  return rows;
}

using PlaceOf = MatrixPlace (*)(const MatrixForm&, int lane, int i);

inline void put_fragment(TestWarp& warp, const MatrixForm& form, Element type, int row,
                         int registers, PlaceOf place, Matrix& matrix) {
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int i = 0; i < registers * per_register(type); ++i) {
      put(warp, type, row + i / per_register(type), lane, i % per_register(type),
          matrix.at(place(form, lane, i)));
    }
  }
}

}  // namespace rung::vgpu::matrix_tests
