#include "core/standard_cases.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/dtype_traits.hpp"

namespace rung {
namespace {

struct Shape {
  std::int64_t m, n, k;
};

/// Values for case `index`. Sums of wide values would exceed 65504, the largest f16.
Values values_of(Dtype dtype, std::size_t index) {
  if (index == 10) return Values::tiny;
  return index == 9 && output_type(dtype) != Dtype::f16 ? Values::wide : Values::reals;
}

/// Variant `index` of a shape. Layout, leading dimensions, scaling, alignment and values each cycle
/// with their own period; the periods are coprime, so all combinations occur.
GemmSpec variant(Dtype dtype, Shape shape, std::size_t index) {
  constexpr std::array<std::pair<double, double>, 7> scalings = {
      {{1, 0}, {1, 1}, {-1, 2}, {2, 0}, {0.5, -1.5}, {0, 1}, {0, 0}}};
  constexpr std::array<std::array<std::int64_t, 3>, 5> paddings = {
      {{0, 0, 0}, {1, 0, 3}, {0, 5, 1}, {7, 1, 0}, {64, 9, 70}}};
  const auto [alpha, beta] = scalings[index % scalings.size()];
  const auto [a_padding, b_padding, c_padding] = paddings[index % paddings.size()];
  return {.dtype = dtype,
          .m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .a_transposed = (index & 1) != 0,
          .b_transposed = (index & 2) != 0,
          .a_padding = a_padding,
          .b_padding = b_padding,
          .c_padding = c_padding,
          .alpha = alpha,
          .beta = beta,
          .values = values_of(dtype, index % 11),
          .offset = index % 3 == 0 ? 1 : 0,
          .seed = index + 1};
}

constexpr std::array quick_shapes = std::to_array<Shape>({
    {0, 5, 7},    {5, 0, 7},    {5, 7, 0},    {0, 0, 0},    {1, 1, 1},    {1, 1, 1000},
    {2, 3, 5},    {7, 11, 13},  {13, 15, 17}, {17, 19, 23}, {31, 37, 29}, {33, 31, 65},
    {65, 63, 64}, {97, 95, 33}, {1, 257, 31}, {257, 1, 31}, {5, 3, 1031}, {129, 2, 67},
    {2, 129, 67}, {1, 33, 257}, {33, 1, 257}, {96, 97, 1},  {16, 64, 96}, {64, 32, 128},
});

// Sizes around tile boundaries.
constexpr std::array edge_sizes = std::to_array<std::int64_t>(
    {4,  5,  6,  7,  8,  9,  12, 13, 14,  15,  16,  17,  24,  31,  32,  33,  47,
     48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129, 255, 256, 257, 383, 384, 385});

// Larger than one block of packed operands, with enough work for several threads.
constexpr std::array large_shapes = std::to_array<Shape>({
    {65, 97, 129},
    {97, 64, 385},
    {129, 257, 65},
    {193, 191, 257},
    {9, 4099, 5},
    {1031, 9, 6},
    {6, 7, 4099},
    {11, 5, 2053},
    {1, 2053, 67},
    {2053, 1, 67},
    {3, 517, 513},
    {517, 3, 513},
});

/// A sequence of random numbers.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  std::int64_t below(std::int64_t count) { return random_below(count, seed_, drawn_++); }
  /// From 1 to 2^bits - 1, with equal probability for each power of two.
  std::int64_t size(int bits) {
    const std::int64_t power = std::int64_t{1} << below(bits);
    return power + below(power);
  }
  std::size_t index() { return static_cast<std::size_t>(below(1 << 30)); }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

void add_non_finite(Dtype dtype, std::vector<GemmSpec>& specs) {
  constexpr std::array shapes = std::to_array<Shape>({{7, 9, 11}, {17, 33, 65}, {41, 50, 300}});
  for (const Values values : {Values::nan, Values::infinity}) {
    for (const Shape shape : shapes) {
      GemmSpec spec = variant(dtype, shape, specs.size());
      spec.alpha = 1;
      spec.beta = specs.size() % 2 == 0 ? 0 : 1;
      spec.values = values;
      specs.push_back(spec);
    }
  }
}

}  // namespace

std::vector<GemmSpec> standard_gemm_cases(Dtype dtype, Effort effort) {
  std::vector<GemmSpec> specs;
  const auto add = [&](Shape shape) { specs.push_back(variant(dtype, shape, specs.size())); };
  for (const Shape shape : quick_shapes) add(shape);
  if (!is_integer(dtype)) add_non_finite(dtype, specs);
  if (effort == Effort::full) {
    for (const std::int64_t size : edge_sizes) {
      add({size, 11, 23});
      add({19, size, 10});
      add({13, 21, size});
    }
    for (const Shape shape : large_shapes) add(shape);
  }
  return specs;
}

std::vector<GemmSpec> random_gemm_cases(Dtype dtype, int count, double max_multiply_adds,
                                        std::uint64_t seed) {
  std::vector<GemmSpec> specs;
  Draws draws(seed);
  while (std::ssize(specs) < count) {
    const Shape shape = {draws.size(12), draws.size(12), draws.size(12)};
    if (static_cast<double>(shape.m * shape.n * shape.k) > max_multiply_adds) continue;
    specs.push_back(variant(dtype, shape, draws.index()));
  }
  return specs;
}

std::vector<GemmSpec> standard_batched_cases(Dtype dtype) {
  constexpr std::array shapes = std::to_array<Shape>({
      {4, 4, 4},
      {8, 8, 8},
      {5, 7, 3},
      {16, 16, 16},
      {17, 15, 33},
      {32, 32, 32},
      {3, 40, 100},
      {64, 64, 64},
      {65, 33, 20},
      {24, 24, 0},
      {0, 5, 5},
      {1, 1, 70},
  });
  std::vector<GemmSpec> specs;
  const auto add = [&](Shape shape, std::int64_t batch) {
    GemmSpec spec = variant(dtype, shape, specs.size());
    spec.batch = batch;
    spec.batch_gap = static_cast<std::int64_t>(specs.size() % 3);
    specs.push_back(spec);
  };
  for (const Shape shape : shapes) add(shape, 3);
  // More products than one block computes, and not a multiple of the thread count.
  for (const Shape shape : {Shape{4, 4, 4}, Shape{5, 7, 3}, Shape{16, 16, 16}}) add(shape, 67);
  // Shapes that need the widest tiles.
  for (const Shape shape : {Shape{65, 136, 24}, Shape{100, 248, 72}}) add(shape, 3);
  return specs;
}

Accuracy accuracy_of(const RungInfo& rung) {
  if (rung.slug.ends_with("compensated")) return Accuracy::compensated;
  if (rung.slug.ends_with("reproducible")) return Accuracy::exact;
  return Accuracy::plain;
}

std::vector<DotSpec> standard_dot_cases(Dtype dtype, Accuracy accuracy, Effort effort) {
  constexpr std::array<std::int64_t, 25> sizes = {0,   1,   2,   3,   5,    7,    8,    15,  16,
                                                  17,  31,  32,  33,  63,   64,   65,   100, 127,
                                                  129, 255, 257, 511, 1021, 4097, 10007};
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 5> increments = {
      {{2, 1}, {1, 3}, {-1, 1}, {-3, -2}, {0, 1}}};
  std::vector<DotSpec> specs;
  const auto add = [&](DotSpec spec) {
    spec.dtype = dtype;
    spec.accuracy = accuracy;
    spec.offset = specs.size() % 3 == 0 ? 1 : 0;
    spec.seed = specs.size() + 1;
    specs.push_back(spec);
  };
  for (const std::int64_t n : sizes) {
    const auto [incx, incy] = increments[specs.size() % increments.size()];
    add({.n = n});
    add({.n = n, .incx = incx, .incy = incy});
  }
  for (const Values values : {Values::tiny, Values::wide, Values::nan, Values::infinity}) {
    if (is_integer(dtype)) break;
    add({.n = 77, .values = values});
    add({.n = 1000, .values = values});
  }
  if (accuracy != Accuracy::plain && (dtype == Dtype::f32 || dtype == Dtype::f64)) {
    const std::array<double, 3> conditions =
        dtype == Dtype::f32 ? std::array{1e6, 1e9, 1e12} : std::array{1e12, 1e18, 1e26};
    for (const double condition : conditions) {
      add({.n = 100, .condition = condition});
      add({.n = 5003, .condition = condition});
    }
  }
  if (effort == Effort::full) {
    for (const std::int64_t n : {65536, 65537, 1000003}) add({.n = n});
  }
  return specs;
}

std::vector<DotSpec> random_dot_cases(Dtype dtype, Accuracy accuracy, int count,
                                      std::uint64_t seed) {
  std::vector<DotSpec> specs;
  Draws draws(seed);
  while (std::ssize(specs) < count) {
    DotSpec spec = {.dtype = dtype, .n = draws.size(20), .accuracy = accuracy};
    if (draws.below(4) == 0) {
      spec.incx = draws.below(7) - 3;
      spec.incy = draws.below(7) - 3;
    }
    spec.values = draws.below(4) == 0 ? Values::wide : Values::reals;
    spec.offset = static_cast<int>(draws.below(3));
    spec.seed = draws.index();
    specs.push_back(spec);
  }
  return specs;
}

}  // namespace rung
