// pdgemm_ and psgemm_, with the arguments of ScaLAPACK's PBLAS: sub(C) = alpha op(sub(A))
// op(sub(B)) + beta sub(C). Blackford et al., "ScaLAPACK Users' Guide" (SIAM 1997), section 4.3 on
// descriptors.

#include <cctype>
#include <cstdio>
#include <string>

#include "library/dist/plan/axis.hpp"
#include "library/dist/scalapack/blacs.hpp"
#include "rung/dist.hpp"

namespace rung::dist {
namespace {

/// An array descriptor.
struct Descriptor {
  int type, context, rows, cols, block_rows, block_cols, row_source, col_source, ld;
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Status::invalid_argument, message);
}

/// The part of an axis with `count` rows or columns, starting with number `first`, counted from 1.
Axis range(const std::string& name, const Axis& axis, int first, int count) {
  if (first < 1 || count < 0 || std::int64_t{first} - 1 + count > axis.extent) {
    refuse(name + ": " + std::to_string(count) + " from number " + std::to_string(first) +
           " are not within the matrix's " + std::to_string(axis.extent));
  }
  return part(axis, first - 1, first - 1 + count);
}

template <class T>
Matrix<T> submatrix(const std::string& name, T* data, const Descriptor& descriptor, int first_row,
                    int first_col, int rows, int cols, const BlacsGrid& grid) {
  if (descriptor.type != 1) {
    refuse(name + ": its descriptor has type " + std::to_string(descriptor.type) +
           "; only 1, of dense matrices, is allowed");
  }
  if (descriptor.block_rows < 1 || descriptor.block_cols < 1) refuse(name + ": empty blocks");
  const Axis all_rows = {descriptor.rows, descriptor.block_rows, grid.rows, descriptor.row_source};
  const Axis all_cols = {descriptor.cols, descriptor.block_cols, grid.cols, descriptor.col_source};
  const Layout layout = {range(name + ", rows", all_rows, first_row, rows),
                         range(name + ", columns", all_cols, first_col, cols)};
  const std::int64_t before = local_before(all_rows, grid.row, first_row - 1) +
                              local_before(all_cols, grid.col, first_col - 1) * descriptor.ld;
  return {layout, col_major(data + before, local_extent(layout.rows, grid.row),
                            local_extent(layout.cols, grid.col), descriptor.ld)};
}

bool is_transposed(const std::string& name, char op) {
  switch (std::toupper(static_cast<unsigned char>(op))) {
    case 'N': return false;
    case 'T':
    case 'C': return true;
    default: refuse(name + ": '" + op + "' is not one of N, T, C");
  }
}

template <class T>
struct Operand {
  T* data;
  const int* first_row;
  const int* first_col;
  const int* descriptor;

  Descriptor read() const {
    const int* d = descriptor;
    return {d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8]};
  }
  Matrix<T> matrix(const std::string& name, int rows, int cols, const BlacsGrid& grid) const {
    return submatrix(name, data, read(), *first_row, *first_col, rows, cols, grid);
  }
  Matrix<T> matrix(const std::string& name, char op, int rows, int cols,
                   const BlacsGrid& grid) const {
    if (is_transposed("trans" + name, op)) return transposed(matrix(name, cols, rows, grid));
    return matrix(name, rows, cols, grid);
  }
};

template <class T>
void pgemm(const char* routine, char op_a, char op_b, int m, int n, int k, T alpha,
           const Operand<const T>& a, const Operand<const T>& b, T beta, const Operand<T>& c) {
  const int context = c.read().context;
  try {
    const BlacsGrid grid = blacs_grid(context);
    if (grid.row < 0) return;
    if (a.read().context != context || b.read().context != context) {
      refuse("a, b and c are of different contexts");
    }
    const Matrix<const T> left = a.matrix("a", op_a, m, k, grid);
    const Matrix<const T> right = b.matrix("b", op_b, k, n, grid);
    gemm(grid_of(context), alpha, left, right, beta, c.matrix("c", m, n, grid));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rung: %s: %s\n", routine, error.what());
    abort_program(context);
  }
}

}  // namespace
}  // namespace rung::dist

#define RUNG_PGEMM(name, routine, T)                                                           \
  extern "C" RUNG_API void name(const char* transa, const char* transb, const int* m,          \
                                const int* n, const int* k, const T* alpha, const T* a,        \
                                const int* ia, const int* ja, const int* desca, const T* b,    \
                                const int* ib, const int* jb, const int* descb, const T* beta, \
                                T* c, const int* ic, const int* jc, const int* descc) {        \
    rung::dist::pgemm<T>(routine, *transa, *transb, *m, *n, *k, *alpha, {a, ia, ja, desca},    \
                         {b, ib, jb, descb}, *beta, {c, ic, jc, descc});                       \
  }

RUNG_PGEMM(pdgemm_, "PDGEMM", double)
RUNG_PGEMM(psgemm_, "PSGEMM", float)
