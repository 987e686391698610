#pragma once
// A product of arrays that may be batches, with as few calls of the library as their strides allow.

#include <cstdint>

#include "array.hpp"
#include "operands.hpp"
#include "strided_copy.hpp"

namespace rung::python {

/// The extents of a product, and the steps between the matrices of a batch.
struct Shapes {
  int batch_dims = 0;
  std::int64_t batch[max_dims] = {};
  std::int64_t steps_a[max_dims] = {}, steps_b[max_dims] = {};
  Matrix a, b;
  int result_dims = 0;
  std::int64_t result[max_dims] = {};
};

/// The shapes of a product, as in numpy.matmul. Throws ValueError of rung.matmul if a and b are
/// incompatible.
Shapes shapes_of(const Array& a, const Array& b);

/// A product whose arrays have been checked. They must outlive it.
class Product {
 public:
  /// `dtype`: the type of the arithmetic.
  Product(const Array& a, const Array& b, const Array& out, const Shapes& shapes, double alpha,
          double beta, std::int32_t dtype, const rung_tensor_options& options);

  /// Does not need the GIL.
  rung_status run();

  /// The destination of the batch's first result.
  const Matrix& c() const { return c_; }
  const Array& out() const { return out_; }

 private:
  int join_rows(Matrix& a, Matrix& c) const;
  rung_status run_batch(int dim, int dims, Matrix a, Matrix b, Matrix c);
  std::int32_t type_of(const Array& operand) const;
  bool takes_batch(int dim, const Matrix& a, const Matrix& b, const Matrix& c) const;
  rung_status call_batch(int dim, const Matrix& a, const Matrix& b, const Matrix& c);
  rung_status run_on_host(const Matrix& a, const Matrix& b, const Matrix& c);
  rung_status call(const Matrix& a, const Matrix& b, const Matrix& c);

  const Array &a_, &b_, &out_;
  const Shapes& shapes_;
  double alpha_, beta_;
  std::int32_t dtype_;
  rung_tensor_options options_;
  Matrix c_;
};

}  // namespace rung::python
