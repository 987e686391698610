// Calls whose operands are random views of the same memory: C must not overlap any input, and only
// shared bytes count, not gaps between rows or matrices.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "rung/rung.h"
#include "rung/rung.hpp"

namespace rung {
namespace {

/// The memory of all operands. Records for each byte if it belongs to C, and if it belongs to an
/// input.
class Arena {
 public:
  explicit Arena(unsigned seed) : random_(seed) {}

  std::int64_t from(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  template <class T>
  BatchView<T> batch(std::int64_t rows, std::int64_t cols, std::int64_t count,
                     bool is_row_major = false) {
    const Order order = is_row_major || from(0, 1) == 0 ? Order::row_major : Order::col_major;
    const std::int64_t lines = order == Order::row_major ? rows : cols;
    const std::int64_t length = order == Order::row_major ? cols : rows;
    const std::int64_t ld = length + from(0, 6), extent = (lines - 1) * ld + length;
    const std::int64_t stride = count == 1 ? 0 : extent + from(0, 6);
    const std::int64_t last =
        static_cast<std::int64_t>(bytes_.size() / sizeof(T)) - (count - 1) * stride - extent;
    auto* const first = reinterpret_cast<T*>(bytes_.data()) + from(0, last);
    for (std::int64_t matrix = 0; matrix < count; ++matrix) {
      for (std::int64_t line = 0; line < lines; ++line) {
        use<T>(first + matrix * stride + line * ld, length);
      }
    }
    return strided(MatrixView<T>(first, rows, cols, ld, order), count, stride);
  }
  template <class T>
  MatrixView<T> matrix(std::int64_t rows, std::int64_t cols, bool is_row_major = false) {
    return batch<T>(rows, cols, 1, is_row_major).matrix;
  }
  template <class T>
  T* vector(std::int64_t count) {
    return matrix<T>(1, count, true).data;
  }

  /// Expects that the call is refused, and nothing written, if and only if C and an input share a
  /// byte.
  void check(const std::function<void()>& call) {
    const std::vector<std::byte> before = bytes_;
    bool is_refused = false;
    try {
      call();
    } catch (const Error& error) {
      is_refused = std::strstr(error.what(), "it must have memory of its own") != nullptr;
      ASSERT_TRUE(is_refused) << error.what();
      ASSERT_EQ(error.code(), Status::invalid_argument);
    }
    ASSERT_EQ(is_refused, shares_);
    if (is_refused) {
      ASSERT_EQ(bytes_, before);
    }
  }

 private:
  /// Records elements of an operand. Elements that are not const are written.
  template <class T>
  void use(T* first, std::int64_t count) {
    const auto begin = reinterpret_cast<const std::byte*>(first) - bytes_.data();
    for (auto i = begin; i < begin + count * static_cast<std::int64_t>(sizeof(T)); ++i) {
      const auto at = static_cast<std::size_t>(i);
      shares_ = shares_ || written_[at] || (!std::is_const_v<T> && read_[at]);
      (std::is_const_v<T> ? read_ : written_)[at] = true;
    }
  }

  std::mt19937 random_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(1 << 12);
  std::vector<bool> read_ = std::vector<bool>(1 << 12), written_ = read_;
  bool shares_ = false;
};

using Call = void (*)(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k);

template <class In, class Out>
void product(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto a = arena.matrix<const In>(m, k), b = arena.matrix<const In>(k, n);
  const auto c = arena.matrix<Out>(m, n);
  arena.check([&] { gemm(a, b, c); });
}

void plain_product(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto a = arena.matrix<const float>(m, k, true), b = arena.matrix<const float>(k, n, true);
  const auto c = arena.matrix<float>(m, n, true);
  arena.check([&] { gemm(a, b, c); });
}

void mixed(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto a = arena.matrix<const bfloat16>(m, k);
  const auto b = arena.matrix<const float>(k, n);
  const auto c = arena.matrix<float>(m, n);
  arena.check([&] { gemm(1, a, b, 0, c); });
}

void batched(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t count = arena.from(2, 4);
  const auto a = arena.batch<const float>(m, k, count), b = arena.batch<const float>(k, n, count);
  const auto c = arena.batch<float>(m, n, count);
  arena.check([&] { gemm_batched(1, a, b, 0, c); });
}

void grouped(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(m / 2),
                                  static_cast<std::int32_t>(m)};
  const auto a = arena.matrix<const float>(m, k);
  const auto b = arena.batch<const float>(k, n, 2);
  const auto c = arena.matrix<float>(m, n, true);
  arena.check([&] { gemm_grouped(1, a, b, 0, c, offsets); });
}

void grouped_by_k(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(k / 2),
                                  static_cast<std::int32_t>(k)};
  const auto a = arena.matrix<const float>(m, k), b = arena.matrix<const float>(k, n);
  const auto c = arena.batch<float>(m, n, 2);
  arena.check([&] { gemm_grouped(1, a, b, 0, c, offsets); });
}

void with_epilogue(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const InputMatrix a = arena.matrix<const float>(m, k), b = arena.matrix<const float>(k, n);
  const OutputMatrix c = arena.matrix<float>(m, n);
  Epilogue parts;
  const InputMatrix itself = {c.data, c.type, c.rows, c.cols, c.ld, c.order};
  const std::int64_t first = arena.from(0, 8), second = (first + arena.from(1, 8)) % 9;
  for (const std::int64_t part : {first, second}) {
    switch (part) {
      case 0: parts.aux = arena.matrix<float>(m, n); break;
      case 1:
        if (arena.from(0, 1) == 0) {
          parts.residual = itself;
        } else {
          parts.residual = arena.matrix<const float>(m, n);
        }
        break;
      case 2: parts.row_scale = {arena.vector<const float>(m), ElementType::f32, m}; break;
      case 3: parts.column_scale = {arena.vector<const float>(n), ElementType::f32, n}; break;
      case 4: parts.row_bias = {arena.vector<const bfloat16>(m), ElementType::bf16, m}; break;
      case 5: parts.column_bias = {arena.vector<const float>(n), ElementType::f32, n}; break;
      case 6: parts.scale_a = arena.vector<const float>(1); break;
      case 7: parts.result_scale = arena.vector<const float>(1); break;
      default: parts.amax = arena.vector<float>(1); break;
    }
  }
  arena.check([&] { gemm_epilogue(1, a, b, 0, c, parts); });
}

void block_scaled(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k) {
  const BlockScaledMatrix a = {arena.matrix<const float8_e4m3>(m, k),
                               arena.matrix<const float>(m, 1)};
  const BlockScaledMatrix b = {arena.matrix<const float8_e4m3>(k, n),
                               arena.matrix<const float>(1, 1)};
  const OutputMatrix c = arena.matrix<bfloat16>(m, n, true);
  arena.check([&] { gemm_block_scaled(1, a, b, 0, c); });
}

struct Named {
  const char* name;
  Call call;
};

class Overlap : public testing::TestWithParam<Named> {};

TEST_P(Overlap, IsRefusedAndNothingElse) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    Arena arena(seed);
    const std::int64_t m = arena.from(1, 9), n = arena.from(1, 9), k = arena.from(1, 9);
    GetParam().call(arena, m, n, k);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    EntryPoints, Overlap,
    testing::Values(Named{"gemm", product<float, float>}, Named{"plain", plain_product},
                    Named{"bf16", product<bfloat16, float>},
                    Named{"i8", product<std::int8_t, std::int32_t>}, Named{"mixed", mixed},
                    Named{"batched", batched}, Named{"grouped", grouped},
                    Named{"grouped_by_k", grouped_by_k}, Named{"epilogue", with_epilogue},
                    Named{"block_scaled", block_scaled}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(OverlapOfAll, LongInterleavedLinesAreTakenAtOnce) {
  constexpr std::int64_t rows = 1 << 20;
  std::vector<float> memory(8 * rows);
  const auto columns = [&](std::int64_t first, std::int64_t count) {
    return row_major(memory.data() + first, rows, count, 8);
  };
  const std::vector<float> b(12);
  gemm(columns(0, 3), row_major(b.data(), 3, 4), columns(3, 4));
  EXPECT_THROW(gemm(columns(0, 3), row_major(b.data(), 3, 4), columns(2, 4)), Error);
}

TEST(OverlapOfAll, OfWhatIsNotRead) {
  std::vector<float> memory(16, 2.0f);
  const auto c = row_major(memory.data(), 4, 4);
  gemm(0.0f, c, c, 3.0f, c);
  EXPECT_EQ(memory, std::vector<float>(16, 6.0f));
}

TEST(OverlapOfAll, OfPackedWeights) {
  alignas(16) std::byte memory[16384] = {};
  std::int8_t elements[16 * 128] = {};
  const std::vector<float> scales(16, 1.0f);
  const PackedWeights weights = pack_weights({.elements = elements,
                                              .bits = 8,
                                              .n = 16,
                                              .k = 128,
                                              .group = 128,
                                              .scales = row_major(scales.data(), 16, 1)},
                                             memory);
  EXPECT_THROW(pack_weights({.elements = memory + 16,
                             .bits = 8,
                             .n = 16,
                             .k = 128,
                             .group = 128,
                             .scales = row_major(scales.data(), 16, 1)},
                            memory),
               Error);
  std::vector<float16> a(4 * 128);
  const auto of_a = row_major(a.data(), 4, 128);
  EXPECT_THROW(gemm_weight_only(1, of_a, weights, 0, row_major(a.data() + 500, 4, 16)), Error);
  EXPECT_THROW(
      gemm_weight_only(1, of_a, weights, 0, row_major(reinterpret_cast<float*>(memory), 4, 16)),
      Error);
}

TEST(OverlapOfAll, InC) {
  float memory[8] = {};
  EXPECT_EQ(rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, 2, 2, 2, 1, memory, 2,
                          memory + 4, 2, 0, memory + 2, 2, nullptr),
            RUNG_INVALID_ARGUMENT);
  EXPECT_STREQ(rung_last_error(), "rung: gemm: C overlaps A or B; it must have memory of its own");
}

}  // namespace
}  // namespace rung
