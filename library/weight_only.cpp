#include "library/weight_only.hpp"

#include <string>

#include "core/epilogue.hpp"
#include "library/check.hpp"
#include "library/check_overlap.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

/// The value of PackedWeights::format that identifies this layout.
constexpr std::uint32_t format = 0x52573431;  // "RW41"

std::string text(std::int64_t value) { return std::to_string(value); }
std::string shape(std::int64_t rows, std::int64_t cols) { return text(rows) + " x " + text(cols); }

[[noreturn]] void fail(const char* function, const std::string& message) {
  throw Error(Status::invalid_argument, "rung: " + std::string(function) + ": " + message);
}

constexpr const char* pack_function = "pack_weights";
constexpr const char* gemm_function = "gemm_weight_only";

bool is_16_bits(ElementType type) { return type == ElementType::bf16 || type == ElementType::f16; }

WeightScale scale_type(ElementType type) {
  if (type == ElementType::f32) return WeightScale::f32;
  return type == ElementType::bf16 ? WeightScale::bf16 : WeightScale::f16;
}

/// Checks the fields that unpacked and packed weights have in common.
template <class Weights>
void check_extents(const char* function, const Weights& w) {
  if (w.bits != 4 && w.bits != 8) fail(function, "bits is " + text(w.bits) + "; it must be 4 or 8");
  if (w.group != 64 && w.group != 128) {
    fail(function, "group is " + text(w.group) + "; it must be 64 or 128");
  }
  if (w.n < 0) check::fail_negative(function, "n", w.n);
  if (w.k < 0) check::fail_negative(function, "k", w.k);
  if (w.k % w.group != 0) {
    fail(function, "k is " + text(w.k) + "; it must be a multiple of group, " + text(w.group));
  }
  std::int64_t rows, cols;
  if (__builtin_add_overflow(w.n, WeightLayout::rows, &rows) ||
      __builtin_add_overflow(w.k, WeightLayout::steps, &cols) || check::overflows(rows, cols, 2)) {
    fail(function, "the weights are " + shape(w.n, w.k) + "; they must have less than 2^63 bytes");
  }
}

void check_scale_type(const char* function, ElementType type) {
  if (type == ElementType::f32 || is_16_bits(type)) return;
  fail(function, "scales are of another type; they must be float, bfloat16 or float16");
}

WeightLayout checked_layout(const QuantizedWeights& w) {
  check_extents(pack_function, w);
  const InputMatrix& scales = w.scales;
  check_scale_type(pack_function, scales.type);
  const std::int64_t groups = w.k / w.group;
  if (scales.rows != w.n || scales.cols != groups) {
    fail(pack_function,
         "scales are " + shape(scales.rows, scales.cols) + "; they must be " + shape(w.n, groups));
  }
  if (w.n > 1 && (scales.order != Order::row_major || scales.ld != groups)) {
    fail(pack_function,
         "scales have gaps or are column-major; they must be row-major without gaps");
  }
  if (w.zeros != nullptr && w.bits != 4) {
    fail(pack_function, "there are zeros for 8 bits; only weights of 4 bits have them");
  }
  return {.n = w.n,
          .k = w.k,
          .bits = w.bits,
          .group = static_cast<int>(w.group),
          .scale = scale_type(scales.type),
          .has_zeros = w.zeros != nullptr};
}

const unsigned char* bytes(const void* data) { return static_cast<const unsigned char*>(data); }

/// The checked layout of packed weights.
WeightLayout layout_of(const PackedWeights& w) {
  if (w.format != format)
    fail(gemm_function, "the weights are not packed; pack_weights() must make them");
  check_extents(gemm_function, w);
  check_scale_type(gemm_function, w.scales);
  if (w.has_zeros && w.bits != 4) {
    fail(gemm_function, "has_zeros is true for 8 bits; only weights of 4 bits have them");
  }
  return {.n = w.n,
          .k = w.k,
          .bits = w.bits,
          .group = static_cast<int>(w.group),
          .scale = scale_type(w.scales),
          .has_zeros = w.has_zeros};
}

/// Checks everything about a matrix of 16-bit or 32-bit elements except its pointer. Returns its
/// strides.
template <class Pointer>
AnyMatrix<Pointer> checked(const char* name, const AnyMatrixView<Pointer>& view) {
  const MatrixView<const float> like(static_cast<const float*>(view.data), view.rows, view.cols,
                                     view.ld, view.order);
  check::matrix(name, like);
  const bool by_rows = view.order == Order::row_major;
  return {view.data, by_rows ? view.ld : 1, by_rows ? 1 : view.ld};
}

Dtype product_type(ElementType a, ElementType c) {
  if (!is_16_bits(a)) fail(gemm_function, "A is of another type; it must be bfloat16 or float16");
  if (c != a && c != ElementType::f32) {
    fail(gemm_function, "C is of another type; it must be float or that of A");
  }
  if (a == ElementType::bf16) return c == a ? Dtype::bf16_bf16 : Dtype::bf16;
  return c == a ? Dtype::f16_f16 : Dtype::f16;
}

}  // namespace

namespace {

void check_apart(const QuantizedWeights& w, const WeightLayout& layout, const void* packed) {
  const check::Region to{.begin = packed, .length = layout.bytes()};
  const std::int64_t scales = w.n * (w.k / w.group);
  const std::int64_t scale_bytes = w.scales.type == ElementType::f32 ? 4 : 2;
  const auto apart = [&](const char* name, const void* data, std::int64_t bytes) {
    check::apart(pack_function, "packed", to, name, {.begin = data, .length = bytes});
  };
  apart("elements", w.elements, w.n * w.k * w.bits / 8);
  apart("scales", w.scales.data, scales * scale_bytes);
  if (w.zeros != nullptr) apart("zeros", w.zeros, scales);
}

}  // namespace

PackCall canonical(const QuantizedWeights& w, void* packed) {
  const WeightLayout layout = checked_layout(w);
  if (layout.bytes() > 0) {
    if (w.elements == nullptr)
      fail(pack_function, "elements is null; the weights are " + shape(w.n, w.k));
    if (w.scales.data == nullptr) fail(pack_function, "scales are null");
    if (packed == nullptr || reinterpret_cast<std::uintptr_t>(packed) % 16 != 0) {
      fail(pack_function, "packed is null or unaligned; it must be a multiple of 16");
    }
    check_apart(w, layout, packed);
  }
  return {.from = {bytes(w.elements), bytes(w.scales.data), w.zeros},
          .layout = layout,
          .to = packed,
          .packed = {.data = packed,
                     .n = w.n,
                     .k = w.k,
                     .bits = w.bits,
                     .group = w.group,
                     .scales = w.scales.type,
                     .has_zeros = layout.has_zeros,
                     .format = format}};
}

WeightOnlyCall canonical(double alpha, const InputMatrix& a, const PackedWeights& weights,
                         double beta, const OutputMatrix& c) {
  const WeightLayout layout = layout_of(weights);
  const Dtype dtype = product_type(a.type, c.type);
  const auto of_a = checked("gemm_weight_only: A", a);
  const auto of_c = checked("gemm_weight_only: C", c);
  if (a.rows != c.rows || weights.n != c.cols || a.cols != weights.k) {
    fail(gemm_function, "A is " + shape(a.rows, a.cols) + ", the weights are " +
                            shape(weights.n, weights.k) + ", C is " + shape(c.rows, c.cols) +
                            "; they must be m x k, n x k and m x n");
  }
  const bool writes = c.rows > 0 && c.cols > 0;
  const bool multiplies = writes && alpha != 0 && a.cols > 0;
  if (writes && c.data == nullptr) check::fail_matrix_null("gemm_weight_only: C", c.rows, c.cols);
  if (multiplies && a.data == nullptr) {
    check::fail_matrix_null("gemm_weight_only: A", a.rows, a.cols);
  }
  if (multiplies &&
      (weights.data == nullptr || reinterpret_cast<std::uintptr_t>(weights.data) % 16 != 0)) {
    fail(gemm_function, "the weights' data is null or unaligned; it must be a multiple of 16");
  }
  if (multiplies) {
    const auto target = check::region_of(of_c, c.rows, c.cols, bytes_of(c.type));
    check::apart(gemm_function, "C", target, "A",
                 check::region_of(of_a, a.rows, a.cols, bytes_of(a.type)));
    check::apart(gemm_function, "C", target, "the weights",
                 {.begin = weights.data, .length = layout.bytes()});
  }
  return {.product = {.dtype = dtype,
                      .m = c.rows,
                      .n = c.cols,
                      .k = multiplies ? a.cols : 0,
                      .alpha = alpha,
                      .a = of_a,
                      .b = {},
                      .beta = beta,
                      .c = of_c},
          .weights = bytes(weights.data),
          .layout = layout};
}

void check::mode_of_weight_only(ComputeMode mode) {
  check::compute_mode(gemm_function, mode);
  if (mode == ComputeMode::standard) return;
  throw Error(Status::unavailable, "rung: gemm_weight_only: compute_mode is " +
                                       text(static_cast<int>(mode)) + "; it must be 0 (standard)");
}

std::size_t packed_weights_bytes(const QuantizedWeights& weights) {
  return static_cast<std::size_t>(checked_layout(weights).bytes());
}

PackedWeights pack_weights(const QuantizedWeights& weights, void* packed,
                           const GemmOptions& options) {
  check::threads(pack_function, options.threads);
  return cpu::pack_weights(canonical(weights, packed), options);
}

void gemm_weight_only(float alpha, const InputMatrix& a, const PackedWeights& weights, float beta,
                      const OutputMatrix& c, const GemmOptions& options) {
  check::threads(gemm_function, options.threads);
  check::mode_of_weight_only(options.compute_mode);
  cpu::gemm_weight_only(canonical(alpha, a, weights, beta, c), options);
}

}  // namespace rung
