// Products and conversions, each as its definition says, with sums in double precision. None needs
// a buffer.

#include <algorithm>
#include <map>

#include "emu/libraries/cusparse/matrix.hpp"

using namespace rung::emu::cusparse;

// The product between its computation and the copy of it to the program's memory.
struct cusparseSpGEMMDescr {
  std::vector<Entry> entries;
};

namespace {

cusparseStatus_t no_buffer(const void* handle, size_t* bytes) {
  return guarded(handle, [&] {
    require(bytes);
    *bytes = 0;
  });
}

Dense product(const std::vector<Entry>& a, int64_t rows, const Dense& b) {
  Dense c{rows, b.cols, std::vector<Value>(static_cast<std::size_t>(rows * b.cols))};
  for (const Entry& entry : a) {
    for (int64_t col = 0; col < b.cols; ++col) {
      c.at(entry.row, col) += entry.value * b.at(entry.col, col);
    }
  }
  return c;
}

/// alpha * product + beta * before, where nothing is read of it if beta is 0.
void combine(Value alpha, std::vector<Value>& product, Value beta,
             const std::vector<Value>& before) {
  for (std::size_t i = 0; i < product.size(); ++i) {
    product[i] = alpha * product[i] + (before.empty() ? Value(0) : beta * before[i]);
  }
}

int64_t rows_of(cusparseOperation_t op, const cusparseSpMatDescr& a) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? a.rows : a.cols;
}
int64_t cols_of(cusparseOperation_t op, const cusparseSpMatDescr& a) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? a.cols : a.rows;
}

void multiply_vector(const cusparseContext& context, cusparseOperation_t op, const void* alpha,
                     const cusparseSpMatDescr& a, const cusparseDnVecDescr& x, const void* beta,
                     const cusparseDnVecDescr& y, cudaDataType type) {
  if (cols_of(op, a) != x.n || rows_of(op, a) != y.n) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  std::vector<Entry> entries = read_entries(context, a);
  apply(op, entries);
  const Dense column{x.n, 1, read_values(context, x.values, x.n, x.type)};
  Dense result = product(entries, y.n, column);
  const Value factor = read_scalar(context, beta, type);
  std::vector<Value> before;
  if (factor != Value(0)) before = read_values(context, y.values, y.n, y.type);
  combine(read_scalar(context, alpha, type), result.values, factor, before);
  write_values(context, y.values, result.values, y.type);
}

void multiply_matrix(const cusparseContext& context, cusparseOperation_t op_a,
                     cusparseOperation_t op_b, const void* alpha, const cusparseSpMatDescr& a,
                     const cusparseDnMatDescr& b, const void* beta, const cusparseDnMatDescr& c,
                     cudaDataType type) {
  std::vector<Entry> entries = read_entries(context, a);
  apply(op_a, entries);
  const Dense right = applied(op_b, read_dense(context, b));
  const bool fits =
      cols_of(op_a, a) == right.rows && rows_of(op_a, a) == c.rows && right.cols == c.cols;
  if (!fits) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  Dense result = product(entries, c.rows, right);
  const Value factor = read_scalar(context, beta, type);
  std::vector<Value> before;
  if (factor != Value(0)) before = read_dense(context, c).values;
  combine(read_scalar(context, alpha, type), result.values, factor, before);
  write_dense(context, c, result);
}

/// Row by row (F. G. Gustavson, "Two Fast Algorithms for Sparse Matrices", 1978).
std::vector<Entry> sparse_product(const std::vector<Entry>& a, const std::vector<Entry>& b,
                                  Value alpha) {
  std::multimap<int64_t, const Entry*> rows;
  for (const Entry& entry : b) rows.emplace(entry.row, &entry);
  std::map<std::pair<int64_t, int64_t>, Value> sums;
  for (const Entry& left : a) {
    const auto [first, last] = rows.equal_range(left.col);
    for (auto right = first; right != last; ++right) {
      sums[{left.row, right->second->col}] += left.value * right->second->value;
    }
  }
  std::vector<Entry> entries;
  for (const auto& [place, sum] : sums) entries.push_back({place.first, place.second, alpha * sum});
  return entries;
}

/// alpha * (op(A) op(B)) where C has entries, plus beta * C.
void sample_product(const cusparseContext& context, cusparseOperation_t op_a,
                    cusparseOperation_t op_b, const void* alpha, const cusparseDnMatDescr& a,
                    const cusparseDnMatDescr& b, const void* beta, const cusparseSpMatDescr& c,
                    cudaDataType type) {
  const Dense left = applied(op_a, read_dense(context, a));
  const Dense right = applied(op_b, read_dense(context, b));
  const bool fits = left.cols == right.rows && left.rows == c.rows && right.cols == c.cols;
  if (!fits) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  const Value scale = read_scalar(context, alpha, type), factor = read_scalar(context, beta, type);
  std::vector<Value> values;
  for (const Entry& entry : read_entries(context, c)) {
    Value sum = 0;
    for (int64_t k = 0; k < left.cols; ++k) sum += left.at(entry.row, k) * right.at(k, entry.col);
    values.push_back(scale * sum + (factor == Value(0) ? Value(0) : factor * entry.value));
  }
  write_values(context, c.values, values, c.type);
}

std::vector<Entry> non_zeros(const Dense& dense) {
  std::vector<Entry> entries;
  for (int64_t row = 0; row < dense.rows; ++row) {
    for (int64_t col = 0; col < dense.cols; ++col) {
      if (dense.at(row, col) != Value(0)) entries.push_back({row, col, dense.at(row, col)});
    }
  }
  return entries;
}

std::vector<int64_t> indices_of(const cusparseContext& context, const cusparseSpVecDescr& x) {
  return read_indices(context, x.indices, x.nnz, x.index_type, x.base);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha,
                               cusparseConstSpVecDescr_t x, const void* beta,
                               cusparseDnVecDescr_t y) {
  return guarded(handle, [&] {
    require(x, y);
    const Value a = read_scalar(*handle, alpha, y->type), b = read_scalar(*handle, beta, y->type);
    std::vector<Value> values = read_values(*handle, y->values, y->n, y->type);
    for (Value& value : values) value *= b;
    const auto indices = indices_of(*handle, *x);
    const auto added = read_values(*handle, x->values, x->nnz, x->type);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      values.at(static_cast<std::size_t>(indices[i])) += a * added[i];
    }
    write_values(*handle, y->values, values, y->type);
  });
}

cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                cusparseSpVecDescr_t x) {
  return guarded(handle, [&] {
    require(x, y);
    const auto from = read_values(*handle, y->values, y->n, y->type);
    std::vector<Value> values;
    for (const int64_t index : indices_of(*handle, *x)) {
      values.push_back(from.at(static_cast<std::size_t>(index)));
    }
    write_values(*handle, x->values, values, x->type);
  });
}

cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                 cusparseDnVecDescr_t y) {
  return guarded(handle, [&] {
    require(x, y);
    std::vector<Value> values = read_values(*handle, y->values, y->n, y->type);
    const auto indices = indices_of(*handle, *x);
    const auto from = read_values(*handle, x->values, x->nnz, x->type);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      values.at(static_cast<std::size_t>(indices[i])) = from[i];
    }
    write_values(*handle, y->values, values, y->type);
  });
}

cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseConstSpVecDescr_t, cusparseConstDnVecDescr_t,
                                         const void*, cudaDataType, size_t* bytes) {
  return no_buffer(handle, bytes);
}

cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op,
                              cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                              void* result, cudaDataType type, void*) {
  return guarded(handle, [&] {
    require(x, y, result);
    const auto dense = read_values(*handle, y->values, y->n, y->type);
    const auto indices = indices_of(*handle, *x);
    const auto values = read_values(*handle, x->values, x->nnz, x->type);
    Value sum = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Value left =
          op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(values[i]) : values[i];
      sum += left * dense.at(static_cast<std::size_t>(indices[i]));
    }
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE) {
      return write_values(*handle, result, {sum}, type);
    }
    let_host_wait(*handle);
    switch (type) {
      case CUDA_R_32F: *static_cast<float*>(result) = static_cast<float>(sum.real()); break;
      case CUDA_R_64F: *static_cast<double*>(result) = sum.real(); break;
      case CUDA_C_32F:
        *static_cast<std::complex<float>*>(result) = static_cast<std::complex<float>>(sum);
        break;
      case CUDA_C_64F: *static_cast<Value*>(result) = sum; break;
      default: throw Failure{CUSPARSE_STATUS_NOT_SUPPORTED};
    }
  });
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         const void*, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         const void*, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, void*) {
  return guarded(handle, [] {});
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                              const void* beta, cusparseDnVecDescr_t y, cudaDataType type,
                              cusparseSpMVAlg_t, void*) {
  return guarded(handle, [&] {
    require(a, x, y);
    multiply_vector(*handle, op, alpha, *a, *x, beta, *y, type);
  });
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         const void*, cusparseDnMatDescr_t, cudaDataType,
                                         cusparseSpMMAlg_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t,
                                         cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         const void*, cusparseDnMatDescr_t, cudaDataType,
                                         cusparseSpMMAlg_t, void*) {
  return guarded(handle, [] {});
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                              cusparseOperation_t op_b, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType type,
                              cusparseSpMMAlg_t, void*) {
  return guarded(handle, [&] {
    require(a, b, c);
    for (int i = 0; i < c->batches; ++i) {
      multiply_matrix(*handle, op_a, op_b, alpha, batch_of(*a, i), batch_of(*b, i), beta,
                      batch_of(*c, i), type);
    }
  });
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
                                                  cusparseSparseToDenseAlg_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                       cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t, void*) {
  return guarded(handle, [&] {
    require(a, b);
    if (a->rows != b->rows || a->cols != b->cols) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    Dense dense{b->rows, b->cols, std::vector<Value>(static_cast<std::size_t>(b->rows * b->cols))};
    for (const Entry& entry : read_entries(*handle, *a)) {
      dense.at(entry.row, entry.col) = entry.value;
    }
    write_dense(*handle, *b, dense);
  });
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
                                                  cusparseDenseToSparseAlg_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                cusparseDenseToSparseAlg_t, void*) {
  return guarded(handle, [&] {
    require(a, b);
    b->nnz = static_cast<int64_t>(non_zeros(read_dense(*handle, *a)).size());
    let_host_wait(*handle);  // for cusparseSpMatGetSize()
  });
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t,
                                               void*) {
  return guarded(handle, [&] {
    require(a, b);
    write_entries(*handle, *b, non_zeros(read_dense(*handle, *a)));
  });
}

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* made) {
  if (made == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new (std::nothrow) cusparseSpGEMMDescr;
  return *made == nullptr ? CUSPARSE_STATUS_ALLOC_FAILED : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t made) {
  delete made;
  return made == nullptr ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t,
                                               cusparseOperation_t, const void*,
                                               cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t,
                                               const void*, cusparseSpMatDescr_t, cudaDataType,
                                               cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t,
                                               size_t* bytes, void*) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                        cusparseOperation_t op_b, const void* alpha,
                                        cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void*, cusparseSpMatDescr_t c, cudaDataType type,
                                        cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t made,
                                        size_t* bytes, void*) {
  return guarded(handle, [&] {
    require(a, b, c, made, bytes);
    *bytes = 0;
    if (cols_of(op_a, *a) != rows_of(op_b, *b)) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    std::vector<Entry> left = read_entries(*handle, *a), right = read_entries(*handle, *b);
    apply(op_a, left);
    apply(op_b, right);
    made->entries = sparse_product(left, right, read_scalar(*handle, alpha, type));
    c->nnz = static_cast<int64_t>(made->entries.size());
    let_host_wait(*handle);  // for cusparseSpMatGetSize()
  });
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t,
                                     cusparseOperation_t, const void*, cusparseConstSpMatDescr_t,
                                     cusparseConstSpMatDescr_t, const void*, cusparseSpMatDescr_t c,
                                     cudaDataType, cusparseSpGEMMAlg_t,
                                     cusparseSpGEMMDescr_t made) {
  return guarded(handle, [&] {
    require(c, made);
    write_entries(*handle, *c, made->entries);
  });
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t,
                                          cusparseOperation_t, const void*,
                                          cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t,
                                          const void*, cusparseSpMatDescr_t, cudaDataType,
                                          cusparseSDDMMAlg_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t,
                                          cusparseOperation_t, const void*,
                                          cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t,
                                          const void*, cusparseSpMatDescr_t, cudaDataType,
                                          cusparseSDDMMAlg_t, void*) {
  return guarded(handle, [] {});
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                               cusparseOperation_t op_b, const void* alpha,
                               cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void* beta, cusparseSpMatDescr_t c, cudaDataType type,
                               cusparseSDDMMAlg_t, void*) {
  return guarded(handle, [&] {
    require(a, b, c);
    for (int i = 0; i < c->batches; ++i) {
      sample_product(*handle, op_a, op_b, alpha, batch_of(*a, i), batch_of(*b, i), beta,
                     batch_of(*c, i), type);
    }
  });
}

}  // extern "C"
