#include "library/block_scaled.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <string>

#include "core/integers.hpp"
#include "library/canonical_grouped.hpp"
#include "library/check_overlap.hpp"
#include "library/gemm.hpp"
#include "library/mode_environment.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

constexpr std::int64_t steps = BlockScales::steps;
constexpr std::int64_t panel = 256;  // rows of sums that are kept

std::string text(std::int64_t value) { return std::to_string(value); }

std::string shape(std::int64_t rows, std::int64_t cols) { return text(rows) + " x " + text(cols); }

[[noreturn]] void fail(const std::string& message) {
  throw Error(Status::invalid_argument, "rung: gemm_block_scaled: " + message);
}

void check_scales(const char* name, const MatrixView<const float>& scales, std::int64_t rows,
                  std::int64_t cols) {
  check::matrix(name, scales);
  if (scales.rows == rows && scales.cols == cols) return;
  throw Error(Status::invalid_argument, "rung: " + std::string(name) + " are " +
                                            shape(scales.rows, scales.cols) + "; they must be " +
                                            shape(rows, cols));
}

/// Checks everything except the pointer. Returns a matrix of float whose ld is in elements of C's
/// type.
MatrixView<float> checked_c(const OutputMatrix& c) {
  if (c.type != ElementType::f32 && c.type != ElementType::bf16) {
    fail("C is of another type; it must be float or bfloat16");
  }
  if (c.order != Order::row_major) fail("C is column-major; it must be row-major");
  const MatrixView<float> view(static_cast<float*>(c.data), c.rows, c.cols, c.ld, c.order);
  check::matrix("gemm_block_scaled: C", view);
  return view;
}

AnyMatrix<const void*> erased_input(const MatrixView<const float8_e4m3>& view,
                                    std::int64_t batch_stride) {
  const auto matrix = detail::strided(view, false);
  return {.data = matrix.data,
          .row_stride = matrix.row_stride,
          .col_stride = matrix.col_stride,
          .batch_stride = batch_stride};
}

void check_apart(const GemmCall& call, std::int64_t c_bytes,
                 const MatrixView<const float>& a_scales, const BatchView<const float>& b_scales) {
  constexpr const char* op = "gemm_block_scaled";
  const auto scales = [](const MatrixView<const float>& view, std::int64_t count,
                         std::int64_t stride) {
    const auto matrix = detail::strided(view, false);
    const AnyMatrix<const void*> erased = {.data = matrix.data,
                                           .row_stride = matrix.row_stride,
                                           .col_stride = matrix.col_stride,
                                           .batch_stride = stride};
    return check::region_of(erased, view.rows, view.cols, sizeof(float), count);
  };
  const check::Region c = check::region_of(call.c, call.m, call.n, c_bytes);
  check::apart(op, "C", c, "A", check::region_of(call.a, call.m, call.k, 1));
  check::apart(op, "C", c, "B", check::region_of(call.b, call.k, call.n, 1, call.batch));
  check::apart(op, "C", c, "the scales of A", scales(a_scales, 1, 0));
  check::apart(op, "C", c, "the scales of B",
               scales(b_scales.matrix, b_scales.count, b_scales.stride));
}

/// The row and column strides of a view, by its order.
std::int64_t row_stride(const MatrixView<const float>& view) {
  return view.order == Order::row_major ? view.ld : 1;
}
std::int64_t col_stride(const MatrixView<const float>& view) {
  return view.order == Order::row_major ? 1 : view.ld;
}

/// Computes 256 rows of sums at a time on the CPU, block after block of k.
class Panels {
 public:
  Panels(const BlockScaledCall& call, const GemmOptions& options)
      : call_(call),
        rows_(std::min(panel, call.product.call.m)),
        products_({call.product.call, Order::row_major, Order::row_major, false},
                  {.threads = options.threads, .compute_mode = ComputeMode::batch_invariant}) {
    const std::int64_t n = call.product.call.n;
    if (check::overflows(rows_, n, 4) || check::overflows(steps, n, 4)) throw std::bad_alloc();
    const auto floats = [](std::int64_t count) {
      return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
    };
    sums_ = floats(rows_ * n);
    results_ = floats(rows_ * n);
    a_ = floats(rows_ * steps);
    b_ = floats(steps * n);
  }

  /// Computes rows [begin, end), which belong to a group.
  void run(std::int64_t group, std::int64_t begin, std::int64_t end) {
    g_ = call_.product.call.typed<float8_e4m3, float>();
    scales_ = call_.scales;
    g_.b.data += group * call_.product.call.b.batch_stride;
    scales_.b += group * scales_.b_group;
    for (std::int64_t row = begin; row < end; row += rows_) {
      run_rows(row, std::min(rows_, end - row));
    }
  }

 private:
  void run_rows(std::int64_t first, std::int64_t rows) {
    std::fill_n(sums_.get(), rows * g_.n, 0.0f);
    for (std::int64_t block = 0; block * steps < g_.k; ++block) {
      multiply(first, rows, block);
      for (std::int64_t i = 0; i < rows * g_.n; ++i) {
        sums_[i] += of_a(first + i / g_.n, block) * of_b(block, i % g_.n) * results_[i];
      }
    }
    for (std::int64_t i = 0; i < rows * g_.n; ++i) store(first + i / g_.n, i % g_.n, sums_[i]);
  }

  /// Adds the products of the k-steps of one block.
  void multiply(std::int64_t first, std::int64_t rows, std::int64_t block) {
    const std::int64_t begin = block * steps;
    const std::int64_t count = std::min(steps, g_.k - begin);
    for (std::int64_t i = 0; i < rows * count; ++i) {
      a_[i] = static_cast<float>(g_.a(first + i / count, begin + i % count));
    }
    for (std::int64_t i = 0; i < count * g_.n; ++i) {
      b_[i] = static_cast<float>(g_.b(begin + i / g_.n, i % g_.n));
    }
    products_.run(erased(canonical(1.0f, row_major<const float>(a_.get(), rows, count),
                                   row_major<const float>(b_.get(), count, g_.n), 0.0f,
                                   row_major(results_.get(), rows, g_.n))));
  }

  float of_a(std::int64_t row, std::int64_t block) const {
    return scales_.a[row * scales_.a_row + block * scales_.a_step];
  }
  float of_b(std::int64_t block, std::int64_t col) const {
    return scales_.b[block * scales_.b_step + col / BlockScales::cols * scales_.b_col];
  }

  void store(std::int64_t row, std::int64_t col, float sum) const {
    const std::int64_t at = row * g_.c.row_stride + col;
    auto* const rounded = reinterpret_cast<bfloat16*>(g_.c.data) + at;
    float result = g_.k == 0 ? 0.0f : g_.alpha * sum;
    if (g_.beta != 0) {
      result += g_.beta * (scales_.to_bf16 ? static_cast<float>(*rounded) : g_.c.data[at]);
    }
    if (scales_.to_bf16) {
      *rounded = bfloat16(result);
    } else {
      g_.c.data[at] = result;
    }
  }

  const BlockScaledCall& call_;
  std::int64_t rows_;
  cpu::Products products_;
  std::unique_ptr<float[]> sums_, results_, a_, b_;
  Gemm<float8_e4m3, float> g_{};
  BlockScales scales_{};
};

}  // namespace

BlockScaledCall canonical(double alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                          double beta, const OutputMatrix& c, const std::int32_t* offsets) {
  const auto& of_b = b.elements.matrix;
  check::matrix("gemm_block_scaled: A", a.elements);
  check::group_batch("gemm_block_scaled: B", b.elements);
  check::group_batch("gemm_block_scaled: the scales of B", b.scales);
  const MatrixView<float> of_c = checked_c(c);
  if (a.elements.rows != c.rows || of_b.cols != c.cols || a.elements.cols != of_b.rows) {
    fail("A is " + shape(a.elements.rows, a.elements.cols) + ", B is " +
         shape(of_b.rows, of_b.cols) + ", C is " + shape(c.rows, c.cols) +
         "; they must be m x k, k x n and m x n");
  }
  if (b.scales.count != b.elements.count) {
    fail("B has " + text(b.elements.count) + " matrices, and scales for " + text(b.scales.count));
  }
  const std::int64_t k = a.elements.cols;
  const std::int64_t blocks = ceil_div(k, steps);
  check_scales("gemm_block_scaled: the scales of A", a.scales, c.rows, blocks);
  check_scales("gemm_block_scaled: the scales of B", b.scales.matrix, blocks,
               ceil_div(c.cols, BlockScales::cols));
  const bool writes = b.elements.count > 0 && c.rows > 0 && c.cols > 0;
  const bool multiplies = writes && alpha != 0 && k > 0;
  if (writes) check::not_null("gemm_block_scaled: C", of_c);
  if (multiplies) {
    check::not_null("gemm_block_scaled: A", a.elements);
    check::batch_not_null("gemm_block_scaled: B", b.elements);
    check::not_null("gemm_block_scaled: the scales of A", a.scales);
    check::batch_not_null("gemm_block_scaled: the scales of B", b.scales);
  }
  // An operand without elements may have a leading dimension of 0, by which the matrix distance
  // would be divided.
  constexpr AnyMatrix<const void*> unread = {nullptr, 1, 1};
  const GemmCall call = {.dtype = Dtype::e4m3,
                         .m = c.rows,
                         .n = c.cols,
                         .k = multiplies ? k : 0,
                         .alpha = multiplies ? alpha : 0,  // infinity times 0 is NaN
                         .a = multiplies ? erased_input(a.elements, 0) : unread,
                         .b = multiplies ? erased_input(of_b, b.elements.stride) : unread,
                         .beta = beta,
                         .c = {c.data, c.ld, 1},
                         .batch = b.elements.count};
  if (multiplies) check_apart(call, c.type == ElementType::f32 ? 4 : 2, a.scales, b.scales);
  return {{call, {offsets, false}},
          {.a = a.scales.data,
           .a_row = row_stride(a.scales),
           .a_step = col_stride(a.scales),
           .b = b.scales.matrix.data,
           .b_step = row_stride(b.scales.matrix),
           .b_col = col_stride(b.scales.matrix),
           .b_group = b.scales.stride,
           .to_bf16 = c.type == ElementType::bf16}};
}

BlockScaledCall canonical(double alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                          double beta, const OutputMatrix& c) {
  return canonical(alpha, a, {strided(b.elements, 1, 0), strided(b.scales, 1, 0)}, beta, c,
                   nullptr);
}

void check::mode_of_block_scales(ComputeMode mode) {
  check::compute_mode("gemm_block_scaled", mode);
  if (mode == ComputeMode::standard || mode == ComputeMode::batch_invariant) return;
  throw Error(Status::unavailable, "rung: gemm_block_scaled: compute_mode is " +
                                       text(static_cast<int>(mode)) +
                                       "; it must be 0 (standard) or 3 (batch_invariant)");
}

void cpu::gemm_block_scaled(const BlockScaledCall& call, const GemmOptions& options) {
  const auto environment = environment_of(ComputeMode::batch_invariant);  // for both modes
  const auto& [product, groups] = call.product;
  if (product.batch == 0 || product.m == 0 || product.n == 0) return;
  if (groups.offsets != nullptr) check::offsets(call.product);
  Panels panels(call, options);
  if (groups.offsets == nullptr) return panels.run(0, 0, product.m);
  for (std::int64_t group = 0; group < product.batch; ++group) {
    panels.run(group, groups.offsets[group], groups.offsets[group + 1]);
  }
}

void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                       float beta, const OutputMatrix& c, const GemmOptions& options) {
  check::threads("gemm_block_scaled", options.threads);
  check::mode_of_block_scales(options.compute_mode);
  cpu::gemm_block_scaled(canonical(alpha, a, b, beta, c), options);
}

void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                       float beta, const OutputMatrix& c, const std::int32_t* offsets,
                       const GemmOptions& options) {
  check::threads("gemm_block_scaled", options.threads);
  check::mode_of_block_scales(options.compute_mode);
  const BlockScaledCall call = canonical(alpha, a, b, beta, c, offsets);
  check::group_counts(offsets, call.product.call.batch, call.product.call.m);
  cpu::gemm_block_scaled(call, options);
}

}  // namespace rung
