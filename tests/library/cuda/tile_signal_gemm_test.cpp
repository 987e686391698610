// gemm_parts(): GEMM with tile signals, i.e. products in parts of rows, with the words by which
// parts are awaited and signalled.

#include "rung/tile_signal_gemm.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "fixture.hpp"
#include "rung/parted_gemm.hpp"
#include "rung/types.hpp"
#include "vgpu/memory/device_memory.hpp"

namespace rung {
namespace {

float a_of(std::int64_t i, std::int64_t p) { return static_cast<float>((i * 7 + p * 3) % 5 - 2); }
float b_of(std::int64_t p, std::int64_t j) { return static_cast<float>((p * 5 + j * 11) % 4 - 1); }
float addend_of(std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 7); }
float sum_of(std::int64_t i, std::int64_t j, std::int64_t k) {
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) sum += a_of(i, p) * b_of(p, j);
  return sum;
}

/// Elements of rows starting at `first`, with leading dimension `ld`, in that order.
template <class T, class F>
std::vector<T> elements(std::int64_t first, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                        Order order, const F& f) {
  const std::int64_t lines = order == Order::row_major ? rows : cols;
  std::vector<T> all(static_cast<std::size_t>(lines * ld), T(99.0f));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const std::int64_t at = order == Order::row_major ? i * ld + j : j * ld + i;
      all[static_cast<std::size_t>(at)] = T(f(first + i, j));
    }
  }
  return all;
}

class TileSignalGemmTest : public CudaLibrary {
 protected:
  template <class T>
  T* filled(std::int64_t count, float value) {
    return on_device(std::vector<T>(static_cast<std::size_t>(count), T(value)));
  }
  std::uint32_t* words(std::vector<std::uint32_t> values) { return on_device(values); }

  /// Describes the first element of some rows that is not as expected.
  template <class T, class F>
  std::string wrong(const T* data, std::int64_t first, std::int64_t rows, std::int64_t cols,
                    const F& expected) {
    const std::vector<T> got = from_device(data, static_cast<std::size_t>(rows * cols));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) {
        const auto value = static_cast<float>(got[static_cast<std::size_t>(i * cols + j)]);
        if (value == expected(first + i, j)) continue;
        return "row " + std::to_string(i) + ", column " + std::to_string(j) + " is " +
               std::to_string(value) + ", not " + std::to_string(expected(first + i, j));
      }
    }
    return "";
  }

  /// Reads rows 0 to 199 from one matrix and 200 to 455 from another. Writes the results of all
  /// parts but the last, which has an addend, to the second C; its row 0 must not change.
  template <class T>
  void run(Order of_a, Order of_b) {
    constexpr std::int64_t n = 296, k = 72, rows = 456;
    // The row at which the second part of each matrix starts.
    const std::int64_t in_first = of_a == Order::row_major ? 130 : 136;
    const std::int64_t in_second = of_a == Order::row_major ? 100 : 104;
    const std::int64_t last = 200 + in_second;
    const auto lda = [&](std::int64_t count) { return of_a == Order::row_major ? k : count; };
    const std::int64_t ldb = of_b == Order::row_major ? n : k;
    const InputMatrix first(MatrixView<const T>{
        on_device(elements<T>(0, 200, k, lda(200), of_a, a_of)), 200, k, lda(200), of_a});
    const InputMatrix second(MatrixView<const T>{
        on_device(elements<T>(200, 256, k, lda(256), of_a, a_of)), 256, k, lda(256), of_a});
    const InputMatrix b(
        MatrixView<const T>{on_device(elements<T>(0, k, n, ldb, of_b, b_of)), k, n, ldb, of_b});
    const InputMatrix addend(MatrixView<const T>{
        on_device(elements<T>(last, rows - last, n, n, Order::row_major, addend_of)), rows - last,
        n, n, Order::row_major});
    T* const own = filled<T>((rows - last) * n, 99);
    T* const sent = filled<T>((1 + last) * n, 99);
    std::uint32_t* const finished = words({0, 0, 0, 0});
    TileSignalGemm product = {
        .alpha = 2,
        .a = {first, second},
        .b = b,
        .c = {MatrixView<T>{own, rows - last, n, n, Order::row_major},
              MatrixView<T>{sent, 1 + last, n, n, Order::row_major}},
        .addend = addend,
        .parts =
            {{.rows = in_first, .a = 0, .a_row = 0, .c = 1, .c_row = 1, .finished = finished},
             {.rows = 200 - in_first, .a = 0, .a_row = in_first, .c = 1, .c_row = 1 + in_first},
             {.rows = in_second,
              .a = 1,
              .a_row = 0,
              .c = 1,
              .c_row = 201,
              .finished = finished + 2},
             {.rows = rows - last, .a = 1, .a_row = in_second, .c_row = 0, .addend_row = 0}},
        .finished_value = 7};
    for (int time = 0; time < 2; ++time) {
      ASSERT_TRUE(gemm_parts(product, default_stream));
      EXPECT_EQ(wrong(own, last, rows - last, n,
                      [&](std::int64_t i, std::int64_t j) {
                        return 2 * sum_of(i, j, k) + addend_of(i, j);
                      }),
                "");
      EXPECT_EQ(wrong(sent, -1, 1, n, [](std::int64_t, std::int64_t) { return 99.0f; }), "");
      EXPECT_EQ(wrong(sent + n, 0, last, n,
                      [&](std::int64_t i, std::int64_t j) { return 2 * sum_of(i, j, k); }),
                "");
      EXPECT_EQ(from_device(finished, 4), (std::vector<std::uint32_t>{7, 0, 7, 0}));
    }
    // TMA reads lines from multiples of 16 bytes.
    product.parts[1].a_row -= 4;
    EXPECT_EQ(gemm_parts(product, default_stream), of_a == Order::row_major);
  }
};

TEST_F(TileSignalGemmTest, PartsOfTwoMatrices) {
  for (const Order a : {Order::row_major, Order::col_major}) {
    for (const Order b : {Order::row_major, Order::col_major}) {
      run<bfloat16>(a, b);
      run<float16>(a, b);
    }
  }
}

// With let_host_access_device_memory(), a thread can act like a copy engine or another GPU,
// concurrently with a running kernel.
template <class T>
void write_beside(T* to, const std::vector<T>& values) {
  std::memcpy(static_cast<void*>(to), values.data(), values.size() * sizeof(T));
}
bool is_set_soon(std::uint32_t* word) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  while (std::chrono::steady_clock::now() < end) {
    if (std::atomic_ref(*word).load(std::memory_order_acquire) == 1) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// The kernel cannot end before the addend is there, which is written only after the first part is
// signalled.
TEST_F(TileSignalGemmTest, APartIsReportedWhileAnotherOneIsAwaited) {
  vgpu::let_host_access_device_memory();
  constexpr std::int64_t n = 256, k = 64, rows = 128;
  const auto by_rows = [](const bfloat16* data, std::int64_t count, std::int64_t cols) {
    return InputMatrix(row_major(data, count, cols));
  };
  const bfloat16* const a =
      on_device(elements<bfloat16>(0, 3 * rows, k, k, Order::row_major, a_of));
  bfloat16* const arriving_a = filled<bfloat16>(rows * k, 77);
  const bfloat16* const b = on_device(elements<bfloat16>(0, k, n, n, Order::row_major, b_of));
  bfloat16* const c = filled<bfloat16>(2 * rows * n, 99);
  bfloat16* const sent = filled<bfloat16>(rows * n, 99);
  bfloat16* const addend = filled<bfloat16>(rows * n, 77);
  std::uint32_t* const word = words({0, 0, 0});
  const TileSignalGemm product = {
      .a = {by_rows(a, rows, k), by_rows(arriving_a, rows, k)},
      .b = by_rows(b, k, n),
      .c = {row_major(c, 2 * rows, n), row_major(sent, rows, n)},
      .addend = by_rows(addend, rows, n),
      .parts = {{.rows = rows, .c = 1, .finished = word},
                {.rows = rows, .addend_row = 0, .awaited = word + 1},
                {.rows = rows, .a = 1, .c_row = rows, .awaited = word + 2}}};
  std::string of_first = "not reported";
  std::jthread beside([&] {
    if (is_set_soon(word)) {
      of_first = "";
      for (std::int64_t i = 0; i < rows * n; ++i) {
        if (static_cast<float>(sent[i]) != sum_of(i / n, i % n, k)) of_first = "incomplete";
      }
    }
    write_beside(addend, elements<bfloat16>(0, rows, n, n, Order::row_major, addend_of));
    std::atomic_ref(word[1]).store(1, std::memory_order_release);
    write_beside(arriving_a, elements<bfloat16>(rows, rows, k, k, Order::row_major, a_of));
    std::atomic_ref(word[2]).store(1, std::memory_order_release);
  });
  ASSERT_TRUE(gemm_parts(product, default_stream));
  beside.join();
  EXPECT_EQ(of_first, "");
  EXPECT_EQ(
      wrong(c, 0, rows, n,
            [&](std::int64_t i, std::int64_t j) { return sum_of(i, j, k) + addend_of(i, j); }),
      "");
  EXPECT_EQ(wrong(c + rows * n, rows, rows, n,
                  [&](std::int64_t i, std::int64_t j) { return sum_of(i, j, k); }),
            "");
}

TEST_F(TileSignalGemmTest, WhatItDoesNotServe) {
  bfloat16* const data = filled<bfloat16>(64 * 64, 1);
  const TileSignalGemm right = {.a = {row_major(data, 16, 32)},
                                .b = row_major(data, 32, 40),
                                .c = {row_major(data, 16, 40)},
                                .parts = {{.rows = 16}}};
  const auto serves = [](const TileSignalGemm& product) {
    return gemm_parts(product, default_stream);
  };
  EXPECT_TRUE(serves(right));
  TileSignalGemm other = right;
  other.c[0] = col_major(data, 16, 40);
  EXPECT_FALSE(serves(other));
  other = right;
  other.a[0].ld = 33;
  EXPECT_FALSE(serves(other));
  other = right;
  other.c[0].type = ElementType::f32;
  EXPECT_FALSE(serves(other));
  other = right;
  other.alpha = 0;
  EXPECT_FALSE(serves(other));
  other = right;
  other.parts.assign(49, right.parts[0]);
  EXPECT_FALSE(serves(other));
}

TEST_F(TileSignalGemmTest, PartsThatDoNotFit) {
  bfloat16* const data = filled<bfloat16>(64 * 64, 1);
  const TileSignalGemm right = {.a = {row_major(data, 16, 32)},
                                .b = row_major(data, 32, 40),
                                .c = {row_major(data, 16, 40)},
                                .parts = {{.rows = 16}}};
  const auto text = [&](const auto& change) {
    TileSignalGemm product = right;
    change(product);
    const auto [status, message] = refusal([&] { gemm_parts(product, default_stream); });
    EXPECT_EQ(status, Status::invalid_argument);
    return message;
  };
  const std::string begin = "rung: gemm_parts: ";
  EXPECT_EQ(text([](TileSignalGemm& p) { p.parts[0].rows = -1; }),
            begin + "part 0: rows is -1; it must be at least 0");
  EXPECT_EQ(text([](TileSignalGemm& p) { p.parts[0].a = 2; }),
            begin + "part 0: a is 2; it must be 0 or 1");
  EXPECT_EQ(text([](TileSignalGemm& p) { p.parts[0].a_row = 1; }),
            begin + "part 0: rows 1 to 17 of A, which has 16");
  EXPECT_EQ(text([](TileSignalGemm& p) { p.parts[0].addend_row = 0; }),
            begin + "part 0: rows 0 to 16 of the addend, which has 0");
  EXPECT_EQ(text([](TileSignalGemm& p) { p.c[0].cols = 39; }),
            begin + "C has 39 columns; it must have 40");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(TileSignalGemmTest, FormerNamesAreTheSameTypes) {
  PartedGemm product;
  product.parts = {PartOfGemm{.rows = -1}};
  EXPECT_EQ(refusal([&] { gemm_parts(product, default_stream); }).first, Status::invalid_argument);
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace rung
