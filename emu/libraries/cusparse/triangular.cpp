// Triangular systems by substitution.

#include <algorithm>

#include "emu/libraries/cusparse/matrix.hpp"

using namespace rung::emu::cusparse;

struct cusparseSpSVDescr {};
struct cusparseSpSMDescr {};

namespace {

/// The triangle of op(A) that the matrix's attributes select, by rows; diagonal entries apart.
struct Triangle {
  std::vector<std::vector<Entry>> rows;
  std::vector<Value> diagonal;
  bool is_lower = true;
};

Triangle triangle_of(const cusparseContext& context, cusparseOperation_t op,
                     const cusparseSpMatDescr& a) {
  if (a.rows != a.cols) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  const auto size = static_cast<std::size_t>(a.rows);
  const bool is_unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
  const bool stored_lower = a.fill == CUSPARSE_FILL_MODE_LOWER;
  Triangle triangle{std::vector<std::vector<Entry>>(size),
                    std::vector<Value>(size, is_unit ? Value(1) : Value(0)),
                    stored_lower == (op == CUSPARSE_OPERATION_NON_TRANSPOSE)};
  std::vector<Entry> entries = read_entries(context, a);
  apply(op, entries);
  for (const Entry& entry : entries) {
    if (entry.row == entry.col) {
      if (!is_unit) triangle.diagonal[static_cast<std::size_t>(entry.row)] = entry.value;
    } else if ((entry.row > entry.col) == triangle.is_lower) {
      triangle.rows[static_cast<std::size_t>(entry.row)].push_back(entry);
    }
  }
  return triangle;
}

/// Solves for one right-hand side in place.
void substitute(const Triangle& triangle, std::vector<Value>& x) {
  for (std::size_t step = 0; step < x.size(); ++step) {
    const std::size_t row = triangle.is_lower ? step : x.size() - 1 - step;
    for (const Entry& entry : triangle.rows[row]) {
      x[row] -= entry.value * x[static_cast<std::size_t>(entry.col)];
    }
    x[row] /= triangle.diagonal[row];
  }
}

template <class Descriptor>
cusparseStatus_t create(Descriptor** made) {
  if (made == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new (std::nothrow) Descriptor;
  return *made == nullptr ? CUSPARSE_STATUS_ALLOC_FAILED : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t no_buffer(const void* handle, size_t* bytes) {
  return guarded(handle, [&] {
    require(bytes);
    *bytes = 0;
  });
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* solver) { return create(solver); }
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t solver) {
  delete solver;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                         cusparseSpSVDescr_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                       cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                       cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                       cusparseSpSVDescr_t, void*) {
  return guarded(handle, [] {});
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op,
                                    const void* alpha, cusparseConstSpMatDescr_t a,
                                    cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType type, cusparseSpSVAlg_t, cusparseSpSVDescr_t) {
  return guarded(handle, [&] {
    require(a, x, y);
    if (a->rows != x->n || x->n != y->n) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    const Value factor = read_scalar(*handle, alpha, type);
    std::vector<Value> values = read_values(*handle, x->values, x->n, x->type);
    for (Value& value : values) value *= factor;
    substitute(triangle_of(*handle, op, *a), values);
    write_values(*handle, y->values, values, y->type);
  });
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* solver) { return create(solver); }
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t solver) {
  delete solver;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                         cusparseSpSMDescr_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t,
                                       cusparseOperation_t, const void*, cusparseConstSpMatDescr_t,
                                       cusparseConstDnMatDescr_t, cusparseDnMatDescr_t,
                                       cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t,
                                       void*) {
  return guarded(handle, [] {});
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a,
                                    cusparseOperation_t op_b, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType type, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t) {
  return guarded(handle, [&] {
    require(a, b, c);
    Dense x = applied(op_b, read_dense(*handle, *b));
    if (x.rows != a->rows || c->rows != x.rows || c->cols != x.cols) {
      throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    }
    const Value factor = read_scalar(*handle, alpha, type);
    const Triangle triangle = triangle_of(*handle, op_a, *a);
    for (int64_t col = 0; col < x.cols; ++col) {
      std::vector<Value> column;
      for (int64_t row = 0; row < x.rows; ++row) column.push_back(factor * x.at(row, col));
      substitute(triangle, column);
      for (int64_t row = 0; row < x.rows; ++row)
        x.at(row, col) = column[static_cast<std::size_t>(row)];
    }
    write_dense(*handle, *c, x);
  });
}

}  // extern "C"
