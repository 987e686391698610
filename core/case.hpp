#pragma once
// Problems with their operands, for verification and bench.

#include <cstdint>
#include <memory>
#include <string>

#include "core/block_format.hpp"
#include "core/call.hpp"
#include "core/families.hpp"
#include "core/operand.hpp"
#include "core/random.hpp"

namespace rung {

/// One gemm in canonical form (core/problem.hpp), in which C is row-major. For a column-major C,
/// use the transposed problem.
struct GemmSpec {
  Dtype dtype = Dtype::f32;
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;  // A is column-major
  bool b_transposed = false;
  std::int64_t a_padding = 0, b_padding = 0, c_padding = 0;  // leading dimension minus row length
  double alpha = 1, beta = 0;
  ComputeMode compute_mode = ComputeMode::standard;
  Values values = Values::reals;
  Family family = Family::symmetric;  // of A and B as reals; only for a single product
  int offset = 0;  // offset of each operand, in elements, from a 64-byte boundary
  std::uint64_t seed = 1;
  std::int64_t batch = 1;                  // number of products, each with its own matrices
  std::int64_t batch_gap = 0;              // rows (or columns) between the matrices of an operand
  BlockFormat format = BlockFormat::none;  // A and B are values of this format (quantize.hpp)
};

/// The required accuracy of a sum: see verify.hpp.
enum class Accuracy : std::uint8_t {
  plain,        // the error bound of a sum in any order
  compensated,  // the bound of Dot2
  exact,        // the exact sum, rounded once
};

/// One dot product or plain sum.
struct DotSpec {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  std::int64_t incx = 1, incy = 1;  // any value, including 0 and negative ones
  bool sum = false;                 // sum of x only; y is null in the call
  Values values = Values::reals;
  Accuracy accuracy = Accuracy::plain;
  double condition = 0;  // target of 2 |x|.|y| / |x.y|; 0: any. Only f32 and f64 with unit strides
  int offset = 0;
  std::uint64_t seed = 1;
};

/// A description such as "f32 nt 7x5x3 alpha=-1 beta=2 ldc+3"; defaults are omitted.
std::string describe(const GemmSpec& spec);
std::string describe(const DotSpec& spec);

/// A GemmSpec with its operands, filled and guarded. Throws like Operand.
class GemmCase {
 public:
  explicit GemmCase(const GemmSpec& spec);

  const GemmSpec& spec() const { return spec_; }
  /// Changes the mode. Operands and expected results do not depend on it.
  void set_compute_mode(ComputeMode mode) { spec_.compute_mode = mode; }
  /// Changes the format of A and B and fills the operands again.
  void set_format(BlockFormat format);
  /// Pointers into this case, valid for its lifetime and across calls of fill().
  GemmCall call() const;
  /// One product of the batch.
  GemmCall product(std::int64_t index) const;
  /// Fills A and B, C (with the guard pattern if beta is 0), and gaps (with the guard pattern). May
  /// be called again.
  void fill(Values values);
  void fill() { fill(spec_.values); }
  /// Restores C to its state after the last fill().
  void renew_c();

  const Operand& a() const { return a_; }
  const Operand& b() const { return b_; }
  const Operand& c() const { return c_; }

  /// C(row, col) of a product after fill(), if beta is not 0. T is the output type.
  template <class T>
  T original_c(std::int64_t product, std::int64_t row, std::int64_t col) const {
    const std::int64_t first_row = product * (spec_.m + spec_.batch_gap);
    return random_element<T>(c_values_, c_seed(), (first_row + row) * spec_.n + col);
  }
  /// True if the gaps between the products of C are unchanged since fill().
  bool has_untouched_gaps() const;

 private:
  std::uint64_t c_seed() const { return 3 * spec_.seed + 2; }
  void poison_gaps(Operand& operand) const;
  void round_to_format();

  GemmSpec spec_;
  Values c_values_ = Values::reals;
  Operand a_, b_, c_;
};

/// A DotSpec with its operands. Throws like Operand, and std::invalid_argument for a condition that
/// the spec does not support.
class DotCase {
 public:
  explicit DotCase(const DotSpec& spec);

  const DotSpec& spec() const { return spec_; }
  DotCall call() const;
  void fill(Values values);
  void fill() { fill(spec_.values); }

  const Operand& x() const { return x_; }
  const Operand& y() const { return y_; }

 private:
  DotSpec spec_;
  Operand x_, y_;
};

}  // namespace rung
