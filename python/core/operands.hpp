#pragma once
// What all products have in common: which operands go together, in which types they are computed, and
// their matrices as tensors of the library.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "array.hpp"
#include "strided_copy.hpp"

namespace rung::python {

/// Whose errors are told: the name of a public function. `function` below is such a name.
[[noreturn]] void fail_in(const char* function, const std::string& message);

/// Throws TypeError for dtypes that differ, ValueError for devices.
void check_same_kind(const char* function, const Array& a, const Array& b);
/// Throws ValueError for devices that differ.
void check_same_device(const char* function, const Array& a, const Array& b);

/// Whether one is of bfloat16 and the other one of float32, which have a product of two matrices.
bool is_mixed(const Array& a, const Array& b);

/// Whether a and b are matrices (2) or batches of as many matrices (3) of one dtype that have a product.
bool go_together(const Array& a, const Array& b, int dims);

/// Throws ValueError unless out has this shape, is on the device of a, and may be written.
void check_out(const char* function, const Array& out, const Array& a, int ndim,
               const std::int64_t* shape);

/// Throws ValueError if a GPU would write through strides that no kernel takes. `c`: a matrix of out.
void check_writable_by_gpu(const char* function, const Array& out, const Matrix& c);

/// Throws ValueError if there is no out that beta could scale.
void check_beta(const char* function, double beta, bool has_out);

/// What the library sums in, and returns unless out says otherwise.
std::int32_t default_result(std::int32_t dtype);

/// How the library computes elements of a dtype: a rung_dtype and a rung_compute_mode.
struct Arithmetic {
  std::int32_t dtype, compute_mode;
};
Arithmetic arithmetic_of(const char* function, std::int32_t dtype, std::string_view math);

rung_tensor_options tensor_options(const Arithmetic& arithmetic, void* stream, int threads);

/// The last two extents; a vector is a row at the left, and a column at the right.
Matrix matrix_of(const Array& array, bool is_left);

/// The shape of a tensor, then its strides.
using MatrixExtents = std::int64_t[4];
using BatchExtents = std::int64_t[6];

/// A matrix of an array, and a batch of `count` matrices `step` elements apart. They point to extents.
rung_tensor tensor_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                      MatrixExtents& extents);
rung_tensor batch_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                     std::int64_t count, std::int64_t step, BatchExtents& extents);

/// All of an array, as it is. It points to the array's extents.
rung_tensor whole(const Array& array);

/// A copy of an array on a GPU without gaps, by its own library, in a stream; `stream` as for stream_for().
nb::object contiguous(nb::handle object, nb::handle stream);

/// An operand of several products, for as long as this lives: a copy where, in host memory, a result of
/// the first might overwrite what a later one reads.
class Detached {
 public:
  Detached(const Array& operand, const Array& out);
  Detached(const Detached&) = delete;
  Detached& operator=(const Detached&) = delete;
  const Array& array() const { return memory_ ? copy_ : operand_; }

 private:
  const Array& operand_;
  Array copy_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace rung::python
