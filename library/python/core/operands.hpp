#pragma once
// Checks and conversions common to all products: compatibility of operands, types of the
// arithmetic, and matrices as tensors of the library.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "array.hpp"
#include "strided_copy.hpp"

namespace rung::python {

/// Throws an error of a public function. Below, `function` is its name.
[[noreturn]] void fail_in(const char* function, const std::string& message);

/// Throws TypeError for different dtypes, ValueError for different devices.
void check_same_kind(const char* function, const Array& a, const Array& b);
/// Throws ValueError for different devices.
void check_same_device(const char* function, const Array& a, const Array& b);

/// True if one array is bfloat16 and the other float32, for which there is a product of two
/// matrices.
bool is_mixed(const Array& a, const Array& b);

/// True if a and b are matrices (dims is 2) or batches with the same number of matrices (3), of one
/// dtype for which there is a product.
bool go_together(const Array& a, const Array& b, int dims);

/// Throws ValueError unless out has this shape, is on the device of a, and is writable: not
/// read-only, and without elements that share memory.
void check_out(const char* function, const Array& out, const Array& a, int ndim,
               const std::int64_t* shape);

/// Throws ValueError if a GPU would write through strides that no kernel supports. `c`: a matrix of
/// out.
void check_writable_by_gpu(const char* function, const Array& out, const Matrix& c);

/// Throws ValueError if beta is not 0 and there is no out to scale.
void check_beta(const char* function, double beta, bool has_out);

/// The type in which the library sums, and in which it returns results unless out has another type.
std::int32_t default_result(std::int32_t dtype);

/// How the library computes with elements of a dtype: a rung_dtype and a rung_compute_mode.
struct Arithmetic {
  std::int32_t dtype, compute_mode;
};
Arithmetic arithmetic_of(const char* function, std::int32_t dtype, std::string_view math);

rung_tensor_options tensor_options(const Arithmetic& arithmetic, void* stream, int threads);

/// The last two dimensions as a matrix; a vector is a row on the left and a column on the right.
Matrix matrix_of(const Array& array, bool is_left);

/// The shape of a tensor, followed by its strides.
using MatrixExtents = std::int64_t[4];
using BatchExtents = std::int64_t[6];

/// A matrix of an array, and a batch of `count` matrices `step` elements apart. The tensors point
/// to `extents`.
rung_tensor tensor_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                      MatrixExtents& extents);
rung_tensor batch_of(const Matrix& matrix, const Array& array, std::int32_t dtype,
                     std::int64_t count, std::int64_t step, BatchExtents& extents);

/// A whole array as a tensor, which points to the array's extents.
rung_tensor whole(const Array& array);

/// A contiguous copy of a GPU array, made by its own library in a stream; `stream` as for
/// stream_for().
nb::object contiguous(nb::handle object, nb::handle stream);

/// Throws ValueError if elements of the array `name` may share memory.
void check_apart(const char* function, const char* name, const Array& array);

/// True if two arrays may share bytes between their first and last elements.
bool may_overlap(const Array& a, const Array& b);

/// An operand, for the lifetime of this object. It is a copy if, in host memory, an earlier result
/// might overwrite elements that a later one needs.
class Detached {
 public:
  /// `written`: the arrays that the call writes.
  Detached(const Array& operand, std::span<const Array* const> written);
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
