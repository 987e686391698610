// rung::gemm_weight_only and rung::pack_weights on the CPU and on the GPU. Elements are small
// integers and scales powers of two, so every sum is exact.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "product.hpp"
#include "vgpu/model/device.hpp"

namespace rung {
namespace {

using cuda::DeviceArray;
using Bytes = std::vector<unsigned char>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float untouched = 17;

struct Shape {
  std::int64_t m, n, k;
};

/// Parameters other than the shape.
struct Form {
  int bits = 4;
  std::int64_t group = 128;
  bool has_zeros = false;
  float beta = 0;
  std::int64_t padding = 0;  // of the rows of A, where gaps are NaN, and of C
  Order a_order = Order::row_major, c_order = Order::row_major;
  bool has_any_scales = false;  // of both signs, some 0, with a wide range: sums are not exact
  bool is_large = false;        // A is large, and some scales are 0
};

/// A scale for a group, which is counted over all rows.
float any_scale(std::int64_t group) {
  constexpr float scales[] = {0,      0.37f,   -1.3f, 1e-20f, 0.011f, 0,
                              1e-39f, -3e-30f, 7e9f,  2e20f,  0.9f};
  return scales[(group * 7 + group / 3) % std::size(scales)];
}

/// The error bound of a product whose terms add up to at most `size`.
double max_error(std::int64_t k, double size) {
  return static_cast<double>(k + k / 16 + 4) * 0x1p-24 * size + 1e-30;
}

template <class In, class Out, class Scale>
struct Problem {
  Shape shape;
  Form form;
  std::vector<In> a;
  std::vector<float> weights;  // n x k: the values of the quantized ones
  Bytes elements;
  std::vector<Scale> scales;
  std::vector<std::uint8_t> zeros;

  Problem(Shape of, Form with) : shape(of), form(with) {
    const auto& [m, n, k] = shape;
    a.assign(static_cast<std::size_t>(lines_of_a() * lda()), In(nan));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t l = 0; l < k; ++l) a[a_at(i, l)] = In(of_a(i, l));
    }
    const std::int64_t groups = k / form.group;
    for (std::int64_t i = 0; i < n * groups; ++i) {
      const float power = std::ldexp(1.0f, static_cast<int>((i * 5 + i / 3) % 4) - 2);
      scales.push_back(Scale(form.has_any_scales           ? any_scale(i)
                             : form.is_large && i % 3 == 1 ? 0
                                                           : power));
      if (form.has_zeros) zeros.push_back(static_cast<std::uint8_t>(i * 7 % 16));
    }
    for (std::int64_t i = 0; i < n * k; ++i) {
      const int q = element(i);
      const std::int64_t of_group = i / k * groups + i % k / form.group;
      const int zero = form.has_zeros ? zeros[of_group] : 0;
      weights.push_back(static_cast<float>(scales[of_group]) * static_cast<float>(q - zero));
      if (form.bits == 8) {
        elements.push_back(static_cast<unsigned char>(q));
      } else if (i % 2 == 0) {
        elements.push_back(static_cast<unsigned char>(q & 15));
      } else {
        elements.back() = static_cast<unsigned char>(elements.back() | (q & 15) << 4);
      }
    }
  }

  float of_a(std::int64_t i, std::int64_t l) const {
    return static_cast<float>((i * 7 + l * 3 + l / 5) % 5 - 2) * (form.is_large ? 0x1p70f : 1);
  }
  int element(std::int64_t i) const {
    const int mixed = static_cast<int>((i * 37 + i / 11) % 256);
    return form.bits == 8 ? mixed - 128 : form.has_zeros ? mixed % 16 : mixed % 16 - 8;
  }

  bool a_by_rows() const { return form.a_order == Order::row_major; }
  bool c_by_rows() const { return form.c_order == Order::row_major; }
  std::int64_t lines_of_a() const { return a_by_rows() ? shape.m : shape.k; }
  std::int64_t lda() const { return (a_by_rows() ? shape.k : shape.m) + form.padding; }
  std::int64_t ldc() const { return (c_by_rows() ? shape.n : shape.m) + form.padding; }
  std::int64_t count_of_c() const { return (c_by_rows() ? shape.m : shape.n) * ldc(); }
  std::size_t a_at(std::int64_t i, std::int64_t l) const {
    return static_cast<std::size_t>(a_by_rows() ? i * lda() + l : l * lda() + i);
  }

  QuantizedWeights quantized(const void* on_elements, const Scale* on_scales,
                             const std::uint8_t* on_zeros) const {
    return {.elements = on_elements,
            .bits = form.bits,
            .n = shape.n,
            .k = shape.k,
            .group = form.group,
            .scales = row_major(on_scales, shape.n, shape.k / form.group),
            .zeros = form.has_zeros ? on_zeros : nullptr};
  }
  QuantizedWeights quantized() const {
    return quantized(elements.data(), scales.data(), zeros.data());
  }

  InputMatrix view_of_a(const In* data) const {
    return MatrixView<const In>{data, shape.m, shape.k, lda(), form.a_order};
  }
  OutputMatrix view_of_c(Out* data) const {
    return MatrixView<Out>{data, shape.m, shape.n, ldc(), form.c_order};
  }

  void expect(const std::vector<Out>& c) const {
    int wrong = 0;
    for (std::int64_t at = 0; at < count_of_c(); ++at) {
      const std::int64_t line = at / ldc(), within = at % ldc();
      const std::int64_t i = c_by_rows() ? line : within, j = c_by_rows() ? within : line;
      double sum = form.beta * untouched, size = 0;
      if (i >= shape.m || j >= shape.n) sum = untouched;
      for (std::int64_t l = 0; l < shape.k && i < shape.m && j < shape.n; ++l) {
        const float weight = weights[static_cast<std::size_t>(j * shape.k + l)];
        sum += 0.5 * of_a(i, l) * weight;
        size += std::fabs(0.5 * of_a(i, l) * weight);
      }
      const auto got = static_cast<float>(c[static_cast<std::size_t>(at)]);
      const double error = form.has_any_scales ? max_error(shape.k, size) : 0;
      const bool is_right =
          std::fabs(got - static_cast<float>(Out(static_cast<float>(sum)))) <= error;
      if (is_right || ++wrong > 3) continue;
      ADD_FAILURE() << "C(" << i << ", " << j << ") is " << got << ", expected " << sum;
    }
    EXPECT_EQ(wrong, 0) << shape.m << " x " << shape.n << " x " << shape.k << ", bits " << form.bits
                        << ", group " << form.group;
  }
};

/// Aligned to 16 bytes.
struct alignas(16) Chunk {
  unsigned char bytes[16];
};

template <class In, class Out, class Scale>
void expect_on_cpu(const Shape& shape, const Form& form) {
  const Problem<In, Out, Scale> p(shape, form);
  std::vector<Chunk> room(packed_weights_bytes(p.quantized()) / sizeof(Chunk));
  const GemmOptions options = {.threads = 2};
  const PackedWeights packed = pack_weights(p.quantized(), room.data(), options);
  std::vector<Out> c(static_cast<std::size_t>(p.count_of_c()), Out(untouched));
  gemm_weight_only(0.5f, p.view_of_a(p.a.data()), packed, form.beta, p.view_of_c(c.data()),
                   options);
  p.expect(c);
}

TEST(WeightOnly, OnCpus) {
  expect_on_cpu<bfloat16, float, float>({3, 37, 192}, {.bits = 4, .group = 64});
  expect_on_cpu<float16, float16, float16>({20, 100, 256}, {.bits = 8, .beta = 0.5f, .padding = 3});
  expect_on_cpu<bfloat16, bfloat16, bfloat16>(
      {33, 18, 128}, {.has_zeros = true, .a_order = Order::col_major, .c_order = Order::col_major});
  expect_on_cpu<float16, float, bfloat16>({5, 7, 0}, {.beta = 0.5f});
  expect_on_cpu<bfloat16, bfloat16, float>({5, 7, 0}, {});
}

class CudaWeightOnly : public CudaLibrary {
 protected:
  template <class In, class Out, class Scale>
  void expect(const Shape& shape, const Form& form, const CudaOptions& options = {},
              std::int64_t offset_of_a = 0) {
    const Problem<In, Out, Scale> p(shape, form);
    const DeviceArray<In> a(api, p.a, {.offset = offset_of_a});
    const DeviceArray<unsigned char> elements(api, p.elements);
    const DeviceArray<Scale> scales(api, p.scales);
    const DeviceArray<std::uint8_t> zeros(api, p.zeros);
    const auto quantized = p.quantized(elements.data(), scales.data(), zeros.data());
    const std::size_t bytes = packed_weights_bytes(quantized);
    const DeviceArray<unsigned char> room(api, Bytes(bytes));
    const PackedWeights packed = pack_weights(quantized, room.data(), default_stream);
    std::vector<Chunk> on_cpu(bytes / sizeof(Chunk));
    pack_weights(p.quantized(), on_cpu.data());
    EXPECT_TRUE(std::memcmp(room.read().data(), on_cpu.data(), bytes) == 0) << "packed otherwise";

    const DeviceArray<Out> c(
        api, std::vector<Out>(static_cast<std::size_t>(p.count_of_c()), Out(untouched)));
    gemm_weight_only(0.5f, p.view_of_a(a.data()), packed, form.beta, p.view_of_c(c.data()),
                     default_stream, options);
    p.expect(c.read());
  }
};

/// Uses the kernels for sm_80.
class CudaWeightOnlyOnA100 : public CudaWeightOnly {
 protected:
  void SetUp() override {
    vgpu::set_virtual_device(vgpu::parse_device("a100"));
    CudaWeightOnly::SetUp();
  }
  void TearDown() override {
    CudaWeightOnly::TearDown();
    vgpu::set_virtual_device(vgpu::parse_device("h200"));
  }
};

TEST_F(CudaWeightOnlyOnA100, EveryTile) {
  expect<bfloat16, bfloat16, float>({1, 200, 256}, {.bits = 4});
  expect<float16, float, float16>({16, 50, 192}, {.bits = 8, .group = 64});
  expect<bfloat16, float, bfloat16>({17, 257, 128}, {.bits = 8, .beta = 0.5f});
  expect<float16, float16, float>({30, 130, 320}, {.bits = 4, .group = 64, .has_zeros = true});
  expect<bfloat16, float, float>({40, 270, 384}, {.bits = 4, .padding = 1});
  expect<float16, float, float>({70, 50, 1024}, {.bits = 8}, {.multiprocessors = 8});
}

TEST_F(CudaWeightOnly, FewRows) {
  expect<bfloat16, bfloat16, float>({1, 200, 256}, {.bits = 4});
  expect<float16, float, float16>({16, 50, 192}, {.bits = 4, .group = 64, .has_zeros = true});
  expect<bfloat16, float, bfloat16>({17, 257, 128}, {.bits = 8, .beta = 0.5f});
  expect<float16, float16, float>({50, 130, 320}, {.bits = 8, .group = 64});
  expect<bfloat16, float, float>({40, 270, 384}, {.bits = 4, .has_zeros = true});
}

TEST_F(CudaWeightOnly, ManyRows) {
  expect<bfloat16, bfloat16, bfloat16>({70, 130, 256}, {.bits = 4});
  expect<float16, float, float>({130, 64, 192}, {.bits = 8, .group = 64, .beta = 0.5f});
  expect<float16, float16, float16>({129, 144, 128}, {.group = 64, .has_zeros = true});
}

/// Tiles of 256 rows, which need the fewest SMs, and their last rows.
TEST_F(CudaWeightOnly, MostRows) {
  const CudaOptions options = {.multiprocessors = 1};
  expect<bfloat16, bfloat16, float>({200, 140, 1024}, {.bits = 4, .has_zeros = true}, options);
  // 8 bits; for a shorter k, tiles of 128 rows are faster.
  expect<float16, float, float16>({250, 70, 1600}, {.bits = 8, .group = 64, .padding = 8}, options);
  expect<float16, float, float16>({260, 130, 576}, {.bits = 8, .group = 64, .padding = 8}, options);
  // Four tiles: the one after the first wave is split.
  expect<bfloat16, bfloat16, float>({200, 390, 4096}, {}, {.multiprocessors = 3});
}

/// One row, for which weight_stream exists, and more rows.
TEST_F(CudaWeightOnly, AnyScales) {
  for (const std::int64_t m : {1, 5, 20, 70}) {
    expect<bfloat16, float, float>({m, 140, 1024}, {.bits = 4, .has_any_scales = true});
    expect<float16, float, bfloat16>(
        {m, 40, 1216}, {.bits = 4, .group = 64, .has_zeros = true, .has_any_scales = true});
    expect<bfloat16, float, float16>({m, 40, 640},
                                     {.bits = 8, .group = 64, .has_any_scales = true});
  }
}

/// Groups without a scale, including those beyond the end of k, must leave the sums unchanged: in
/// smaller units, these would overflow.
TEST_F(CudaWeightOnly, GroupsWithoutAScaleBesideLargeElements) {
  const CudaOptions options = {.multiprocessors = 1};
  expect<bfloat16, float, float>({70, 40, 576}, {.bits = 4, .group = 64, .is_large = true},
                                 options);
  expect<bfloat16, float, float16>({200, 40, 1664}, {.bits = 8, .is_large = true}, options);
}

/// One SM: no split of k. Four SMs: several splits, whose sums are added.
TEST_F(CudaWeightOnly, PartsOfK) {
  for (const int multiprocessors : {1, 4}) {
    const CudaOptions options = {.multiprocessors = multiprocessors};
    expect<bfloat16, float, float>({5, 40, 1024}, {.bits = 4}, options);
    expect<float16, float16, float>({100, 40, 1024}, {.bits = 8}, options);
  }
}

/// weight_stream: each of 16 warps has no record, one, or several of a row; a block has several tiles of
/// 16 rows, or a split of k.
TEST_F(CudaWeightOnly, OneRow) {
  expect<bfloat16, float, float>({1, 200, 4608}, {.bits = 4, .has_zeros = true},
                                 {.multiprocessors = 2});
  expect<float16, float16, float16>({1, 50, 4096}, {.bits = 8, .beta = 0.5f});
  expect<bfloat16, bfloat16, bfloat16>({1, 130, 192}, {.bits = 4, .group = 64, .padding = 1});
}

/// weight_stream in one block: several batches of groups of one tile, a batch cut off at the end of a
/// tile, and more tiles than warps.
TEST_F(CudaWeightOnly, OneRowInOneBlock) {
  const CudaOptions options = {.multiprocessors = 1};
  expect<bfloat16, float, float>({1, 17, 16640}, {.bits = 4}, options);
  expect<float16, float16, bfloat16>({1, 33, 4544}, {.bits = 4, .group = 64, .has_zeros = true},
                                     options);
  expect<bfloat16, float, float16>({1, 40, 8448}, {.bits = 8, .group = 64}, options);
  expect<float16, float, float>({1, 1100, 192}, {.bits = 8, .group = 64}, options);
}

TEST_F(CudaWeightOnly, AnyLayout) {
  const Form by_columns = {.padding = 3, .a_order = Order::col_major, .c_order = Order::col_major};
  for (const std::int64_t m : {1, 9, 70}) {
    expect<bfloat16, bfloat16, float>({m, 50, 128}, {.padding = 1});
    expect<float16, float, float>({m, 50, 128}, by_columns);
    expect<bfloat16, float, float>({m, 50, 128}, {.padding = 8}, {}, 1);
  }
}

TEST_F(CudaWeightOnly, NothingToMultiply) {
  expect<bfloat16, bfloat16, float>({70, 67, 0}, {.beta = 0.5f});
  expect<bfloat16, float, float>({3, 5, 0}, {});
  expect<bfloat16, float, float>({0, 5, 128}, {});
}

/// Without room for a copy of A, the kernel for few rows reads A in place.
TEST_F(CudaWeightOnly, SmallWorkspace) {
  const DeviceArray<unsigned char> memory(api, Bytes(256));
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const CudaOptions options = {.workspace = reinterpret_cast<void*>(address / 256 * 256),
                               .workspace_bytes = 256};
  expect<bfloat16, float, float>({70, 50, 256}, {.padding = 1}, options);
}

template <class F>
std::string message_of(const F& f) {
  return refusal(f).second;
}

TEST(WeightOnly, ErrorsOfPacking) {
  const Bytes elements(64 * 256);
  const std::vector<float> scales(64 * 4);
  std::vector<Chunk> room(4096);
  const std::vector<std::uint8_t> zeros(64 * 4);
  const QuantizedWeights right = {.elements = elements.data(),
                                  .bits = 8,
                                  .n = 64,
                                  .k = 256,
                                  .group = 64,
                                  .scales = row_major(scales.data(), 64, 4)};
  const auto call = [&](const auto& change, void* to) {
    QuantizedWeights weights = right;
    change(weights);
    return message_of([&] { pack_weights(weights, to); });
  };
  const auto expect = [&](const auto& change, const std::string& message) {
    EXPECT_EQ(call(change, room.data()), "rung: pack_weights: " + message);
  };
  EXPECT_EQ(call([](auto&) {}, room.data()), "no error");
  expect([](auto& w) { w.bits = 3; }, "bits is 3; it must be 4 or 8");
  expect([](auto& w) { w.group = 32; }, "group is 32; it must be 64 or 128");
  expect([](auto& w) { w.k = 250; }, "k is 250; it must be a multiple of group, 64");
  expect([](auto& w) { w.n = -1; }, "n is -1; it must be at least 0");
  expect([](auto& w) { w.group = 128; }, "scales are 64 x 4; they must be 64 x 2");
  expect([](auto& w) { w.scales.order = Order::col_major; },
         "scales have gaps or are column-major; they must be row-major without gaps");
  expect([](auto& w) { w.scales.type = ElementType::f64; },
         "scales are of another type; they must be float, bfloat16 or float16");
  expect([&](auto& w) { w.zeros = zeros.data(); },
         "there are zeros for 8 bits; only weights of 4 bits have them");
  expect([](auto& w) { w.elements = nullptr; }, "elements is null; the weights are 64 x 256");
  expect([](auto& w) { w.scales.data = nullptr; }, "scales are null");
  EXPECT_EQ(call([](auto&) {}, nullptr),
            "rung: pack_weights: packed is null or unaligned; it must be a multiple of 16");
  EXPECT_EQ(call([](auto&) {}, room[0].bytes + 1),
            "rung: pack_weights: packed is null or unaligned; it must be a multiple of 16");
}

TEST(WeightOnly, ErrorsOfProducts) {
  const Bytes elements(8 * 128);
  const std::vector<float> scales(8);
  std::vector<Chunk> room(4096);
  const QuantizedWeights weights = {.elements = elements.data(),
                                    .bits = 8,
                                    .n = 8,
                                    .k = 128,
                                    .scales = row_major(scales.data(), 8, 1)};
  const PackedWeights packed = pack_weights(weights, room.data());
  const std::vector<bfloat16> a(4 * 128);
  std::vector<float> c(4 * 8);
  const auto call = [&](const InputMatrix& left, const PackedWeights& right, const OutputMatrix& to,
                        ComputeMode mode = ComputeMode::standard) {
    return message_of(
        [&] { gemm_weight_only(1, left, right, 0, to, GemmOptions{.compute_mode = mode}); });
  };
  const InputMatrix of_a = row_major(a.data(), 4, 128);
  const OutputMatrix of_c = row_major(c.data(), 4, 8);
  EXPECT_EQ(call(of_a, packed, of_c), "no error");
  const std::string begin = "rung: gemm_weight_only: ";
  EXPECT_EQ(call(of_a, {.data = elements.data(), .n = 8, .k = 128, .bits = 8, .group = 128}, of_c),
            begin + "the weights are not packed; pack_weights() must make them");
  PackedWeights moved = packed;
  moved.data = nullptr;
  EXPECT_EQ(call(of_a, moved, of_c),
            begin + "the weights' data is null or unaligned; it must be a multiple of 16");
  EXPECT_EQ(call(row_major(a.data(), 4, 120), packed, of_c),
            begin +
                "A is 4 x 120, the weights are 8 x 128, C is 4 x 8; they must be m x k, n x k "
                "and m x n");
  EXPECT_EQ(call(row_major(c.data(), 4, 128), packed, of_c),
            begin + "A is of another type; it must be bfloat16 or float16");
  EXPECT_EQ(call(of_a, packed, row_major(reinterpret_cast<float16*>(c.data()), 4, 8)),
            begin + "C is of another type; it must be float or that of A");
  EXPECT_EQ(call(row_major(static_cast<const bfloat16*>(nullptr), 4, 128), packed, of_c),
            begin + "A is null; it must point to 4 x 128 elements");
  EXPECT_EQ(call(of_a, packed, of_c, ComputeMode::batch_invariant),
            begin + "compute_mode is 3; it must be 0 (standard)");
}

}  // namespace
}  // namespace rung
