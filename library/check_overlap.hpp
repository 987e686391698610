#pragma once
// Checks that a call does not write memory that it reads.

#include <cstdint>

#include "core/call.hpp"

namespace rung::check {

/// The bytes of an operand: `matrices` matrices of `lines` lines each.
struct Region {
  const void* begin;
  std::int64_t length;  // of a line
  std::int64_t lines = 1, pitch = 0;
  std::int64_t matrices = 1, step = 0;
};

template <class Pointer>
Region region_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                 std::int64_t element_bytes, std::int64_t batch = 1) {
  const bool by_rows = matrix.col_stride == 1;
  const std::int64_t pitch = by_rows ? matrix.row_stride : matrix.col_stride;
  return {.begin = matrix.data,
          .length = (by_rows ? cols : rows) * element_bytes,
          .lines = by_rows ? rows : cols,
          .pitch = pitch * element_bytes,
          .matrices = batch,
          .step = matrix.batch_stride * element_bytes};
}

/// True if the regions share a byte. Gaps between lines and between matrices do not count.
bool overlap(const Region& x, const Region& y);

/// Throws rung::Error (Status::invalid_argument), with the names of both operands, if the regions
/// share a byte.
void apart(const char* op, const char* written, const Region& target, const char* operand,
           const Region& source);

/// Checks that C is apart from A and B of a product, a batch or groups. Targets of pointer arrays
/// are not checked. The element sizes of A and B may differ from those of `call.dtype`.
void apart(const char* op, const GemmCall& call, std::int64_t a_bytes, std::int64_t b_bytes);
void apart(const char* op, const GemmCall& call);

}  // namespace rung::check
