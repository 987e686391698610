// cuSPARSE: what is left of the interface by types, on indices of 32 bits.

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "emu/libraries/cusparse/matrix.hpp"

namespace {

using namespace rung::emu::cusparse;
using Indices = std::vector<int64_t>;

Indices read(const cusparseContext& context, const int* from, int64_t count, int base = 0) {
  return read_indices(context, from, count, CUSPARSE_INDEX_32I,
                      static_cast<cusparseIndexBase_t>(base));
}
void write(const cusparseContext& context, int* to, const Indices& indices, int base = 0) {
  write_indices(context, to, indices, CUSPARSE_INDEX_32I, static_cast<cusparseIndexBase_t>(base));
}

cusparseStatus_t no_buffer(cusparseHandle_t handle, size_t* bytes) {
  return guarded(handle, [&] {
    require(bytes);
    *bytes = 4;  // programs take an allocation of 0 bytes for a failure
  });
}

/// Offsets of each line's first entry, of sorted lines.
Indices offsets_of(const Indices& lines, int64_t count) {
  Indices offsets(static_cast<std::size_t>(count) + 1, 0);
  for (const int64_t line : lines) {
    if (line < 0) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    ++offsets.at(static_cast<std::size_t>(line) + 1);
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

/// The line of each of `count` entries.
Indices lines_of(const Indices& offsets, int64_t count) {
  const bool fit = !offsets.empty() && offsets.front() == 0 && offsets.back() == count &&
                   std::is_sorted(offsets.begin(), offsets.end());
  if (!fit) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  Indices lines;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    lines.insert(lines.end(), static_cast<std::size_t>(offsets[i + 1] - offsets[i]),
                 static_cast<int64_t>(i));
  }
  return lines;
}

/// Sorts entries by (line, inner), and permutes all three lists; the last one may be empty.
void sort_entries(Indices& lines, Indices& inner, Indices& permutation) {
  Indices order(lines.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    return std::pair(lines[i], inner[i]) < std::pair(lines[j], inner[j]);
  });
  const auto permute = [&](Indices& list) {
    Indices result;
    for (const int64_t from : order) result.push_back(list[static_cast<std::size_t>(from)]);
    list = std::move(result);
  };
  for (Indices* const list : {&lines, &inner, &permutation}) {
    if (!list->empty()) permute(*list);
  }
}

cusparseStatus_t sort_coo(cusparseHandle_t handle, int nnz, int* lines, int* inner,
                          int* permutation) {
  return guarded(handle, [&] {
    Indices by = read(*handle, lines, nnz), others = read(*handle, inner, nnz), moved;
    if (permutation != nullptr) moved = read(*handle, permutation, nnz);
    sort_entries(by, others, moved);
    write(*handle, lines, by);
    write(*handle, inner, others);
    if (permutation != nullptr) write(*handle, permutation, moved);
  });
}

/// A matrix in CSR, as the calls by types have it.
struct Csr {
  const cusparseMatDescr_t matrix;
  int nnz;
  const void* values;
  const int *offsets, *columns;
};

/// Places and values of alpha A + beta B; without `type`, places alone.
using Sum = std::map<std::pair<int64_t, int64_t>, Value>;
void add(const cusparseContext& context, Sum& sum, int rows, Value scale, const Csr& of,
         const cudaDataType* type) {
  require(of.matrix);
  const Indices lines = lines_of(read(context, of.offsets, rows + 1, of.matrix->base), of.nnz);
  const Indices columns = read(context, of.columns, of.nnz, of.matrix->base);
  std::vector<Value> values(columns.size());
  if (type != nullptr) values = read_values(context, of.values, of.nnz, *type);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    sum[{lines[i], columns[i]}] += scale * values[i];
  }
}

cusparseStatus_t add_csr(cusparseHandle_t handle, int rows, const void* alpha, const Csr& a,
                         const void* beta, const Csr& b, const cusparseMatDescr_t c, void* values,
                         int* offsets, int* columns, cudaDataType type) {
  return guarded(handle, [&] {
    require(c);
    Sum sum;
    add(*handle, sum, rows, read_scalar(*handle, alpha, type), a, &type);
    add(*handle, sum, rows, read_scalar(*handle, beta, type), b, &type);
    Indices lines, inner;
    std::vector<Value> sums;
    for (const auto& [place, value] : sum) {
      lines.push_back(place.first);
      inner.push_back(place.second);
      sums.push_back(value);
    }
    write(*handle, offsets, offsets_of(lines, rows), c->base);
    write(*handle, columns, inner, c->base);
    write_values(*handle, values, sums, type);
  });
}

/// Gaussian elimination with partial pivoting of a tridiagonal matrix (LAPACK's xGTSV); a row swap
/// fills a second diagonal above.
class Tridiagonal {
 public:
  Tridiagonal(std::vector<Value> lower, std::vector<Value> diagonal, std::vector<Value> upper)
      : lower_(std::move(lower)), diagonal_(std::move(diagonal)), upper_(std::move(upper)) {
    second_.resize(diagonal_.size());
    upper_.back() = 0;
  }

  /// Replaces each right side by its solution.
  void solve(std::vector<std::vector<Value>>& sides) {
    const std::size_t n = diagonal_.size();
    for (std::size_t i = 0; i + 1 < n; ++i) eliminate(i, sides);
    for (std::vector<Value>& x : sides) {
      for (std::size_t i = n; i-- > 0;) {
        if (diagonal_[i] == 0.0) throw Failure{CUSPARSE_STATUS_ZERO_PIVOT};
        if (i + 1 < n) x[i] -= upper_[i] * x[i + 1];
        if (i + 2 < n) x[i] -= second_[i] * x[i + 2];
        x[i] /= diagonal_[i];
      }
    }
  }

 private:
  void eliminate(std::size_t i, std::vector<std::vector<Value>>& sides) {
    if (std::abs(lower_[i + 1]) > std::abs(diagonal_[i])) {
      std::swap(diagonal_[i], lower_[i + 1]);
      std::swap(upper_[i], diagonal_[i + 1]);
      std::swap(second_[i], upper_[i + 1]);
      for (std::vector<Value>& x : sides) std::swap(x[i], x[i + 1]);
    }
    if (diagonal_[i] == 0.0) throw Failure{CUSPARSE_STATUS_ZERO_PIVOT};
    const Value factor = lower_[i + 1] / diagonal_[i];
    diagonal_[i + 1] -= factor * upper_[i];
    upper_[i + 1] -= factor * second_[i];
    for (std::vector<Value>& x : sides) x[i + 1] -= factor * x[i];
  }

  std::vector<Value> lower_, diagonal_, upper_, second_;
};

cusparseStatus_t solve(cusparseHandle_t handle, int n, int sides, const void* lower,
                       const void* diagonal, const void* upper, void* b, int ldb,
                       cudaDataType type) {
  return guarded(handle, [&] {
    if (n < 1 || sides < 0 || ldb < n) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    if (sides == 0) return;
    Tridiagonal matrix(read_values(*handle, lower, n, type),
                       read_values(*handle, diagonal, n, type),
                       read_values(*handle, upper, n, type));
    const int64_t all = int64_t{ldb} * (sides - 1) + n;
    std::vector<Value> values = read_values(*handle, b, all, type);
    std::vector<std::vector<Value>> x;
    for (int i = 0; i < sides; ++i) {
      const auto from = values.begin() + std::ptrdiff_t{ldb} * i;
      x.emplace_back(from, from + n);
    }
    matrix.solve(x);
    for (int i = 0; i < sides; ++i) {
      std::copy(x[static_cast<std::size_t>(i)].begin(), x[static_cast<std::size_t>(i)].end(),
                values.begin() + std::ptrdiff_t{ldb} * i);
    }
    write_values(*handle, b, values, type);
  });
}

template <class T>
cusparseStatus_t solve_batch(cusparseHandle_t handle, int n, const T* lower, const T* diagonal,
                             const T* upper, T* x, int batches, int stride, cudaDataType type) {
  if (batches < 0 || stride < n) return CUSPARSE_STATUS_INVALID_VALUE;
  for (int i = 0; i < batches; ++i) {
    const auto at = std::ptrdiff_t{stride} * i;
    const cusparseStatus_t status =
        solve(handle, n, 1, lower + at, diagonal + at, upper + at, x + at, n, type);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
  }
  return guarded(handle, [] {});
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* row_of_entry, int nnz,
                                  int rows, int* row_offsets, cusparseIndexBase_t base) {
  return guarded(handle, [&] {
    write(*handle, row_offsets, offsets_of(read(*handle, row_of_entry, nnz, base), rows), base);
  });
}
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* row_offsets, int nnz,
                                  int rows, int* row_of_entry, cusparseIndexBase_t base) {
  return guarded(handle, [&] {
    write(*handle, row_of_entry, lines_of(read(*handle, row_offsets, rows + 1, base), nnz), base);
  });
}
cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n,
                                                   int* permutation) {
  return guarded(handle, [&] {
    Indices all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    write(*handle, permutation, all);
  });
}
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int, int, int, const int*,
                                                const int*, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int, int, int nnz,
                                       int* row_of_entry, int* col_of_entry, int* permutation,
                                       void*) {
  return sort_coo(handle, nnz, row_of_entry, col_of_entry, permutation);
}
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int, int, int nnz,
                                          int* row_of_entry, int* col_of_entry, int* permutation,
                                          void*) {
  return sort_coo(handle, nnz, col_of_entry, row_of_entry, permutation);
}
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int, int, int, const int*,
                                                const int*, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int rows, int, int nnz,
                                  const cusparseMatDescr_t matrix, const int* row_offsets,
                                  int* columns, int* permutation, void*) {
  return guarded(handle, [&] {
    require(matrix);
    Indices lines = lines_of(read(*handle, row_offsets, rows + 1, matrix->base), nnz), moved;
    Indices inner = read(*handle, columns, nnz);
    if (permutation != nullptr) moved = read(*handle, permutation, nnz);
    sort_entries(lines, inner, moved);
    write(*handle, columns, inner);
    if (permutation != nullptr) write(*handle, permutation, moved);
  });
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int, int, int, const void*,
                                               const int*, const int*, void*, int*, int*,
                                               cudaDataType, cusparseAction_t, cusparseIndexBase_t,
                                               cusparseCsr2CscAlg_t, size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int cols, int nnz,
                                    const void* values, const int* row_offsets, const int* columns,
                                    void* csc_values, int* column_offsets, int* row_of_entry,
                                    cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void*) {
  return guarded(handle, [&] {
    Indices order(static_cast<std::size_t>(nnz));
    std::iota(order.begin(), order.end(), 0);
    Indices lines = read(*handle, columns, nnz, base);
    Indices inner = lines_of(read(*handle, row_offsets, rows + 1, base), nnz);
    sort_entries(lines, inner, order);
    write(*handle, column_offsets, offsets_of(lines, cols), base);
    write(*handle, row_of_entry, inner, base);
    if (action == CUSPARSE_ACTION_SYMBOLIC) return;
    const std::vector<Value> from = read_values(*handle, values, nnz, type);
    std::vector<Value> to;
    for (const int64_t place : order) to.push_back(from[static_cast<std::size_t>(place)]);
    write_values(*handle, csc_values, to, type);
  });
}

cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int rows, int,
                                      const cusparseMatDescr_t a, int a_nnz, const int* a_offsets,
                                      const int* a_columns, const cusparseMatDescr_t b, int b_nnz,
                                      const int* b_offsets, const int* b_columns,
                                      const cusparseMatDescr_t c, int* c_offsets, int* c_nnz,
                                      void*) {
  return guarded(handle, [&] {
    require(c);
    Sum sum;
    add(*handle, sum, rows, 1, {a, a_nnz, nullptr, a_offsets, a_columns}, nullptr);
    add(*handle, sum, rows, 1, {b, b_nnz, nullptr, b_offsets, b_columns}, nullptr);
    Indices lines;
    for (const auto& [place, value] : sum) lines.push_back(place.first);
    write(*handle, c_offsets, offsets_of(lines, rows), c->base);
    if (c_nnz == nullptr) return;  // c_offsets have the number, too
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE) {
      write(*handle, c_nnz, {static_cast<int64_t>(sum.size())});
    } else {
      let_host_wait(*handle);
      *c_nnz = static_cast<int>(sum.size());
    }
  });
}

#define RUNG_EMU_OF_TYPE(T, Name, type)                                                           \
  cusparseStatus_t cusparse##Name##csrgeam2_bufferSizeExt(                                        \
      cusparseHandle_t handle, int, int, const T*, const cusparseMatDescr_t, int, const T*,       \
      const int*, const int*, const T*, const cusparseMatDescr_t, int, const T*, const int*,      \
      const int*, const cusparseMatDescr_t, const T*, const int*, const int*, size_t* bytes) {    \
    return no_buffer(handle, bytes);                                                              \
  }                                                                                               \
  cusparseStatus_t cusparse##Name##csrgeam2(                                                      \
      cusparseHandle_t handle, int rows, int, const T* alpha, const cusparseMatDescr_t a,         \
      int a_nnz, const T* a_values, const int* a_offsets, const int* a_columns, const T* beta,    \
      const cusparseMatDescr_t b, int b_nnz, const T* b_values, const int* b_offsets,             \
      const int* b_columns, const cusparseMatDescr_t c, T* c_values, int* c_offsets,              \
      int* c_columns, void*) {                                                                    \
    return add_csr(handle, rows, alpha, {a, a_nnz, a_values, a_offsets, a_columns}, beta,         \
                   {b, b_nnz, b_values, b_offsets, b_columns}, c, c_values, c_offsets, c_columns, \
                   type);                                                                         \
  }                                                                                               \
  cusparseStatus_t cusparse##Name##gtsv2_bufferSizeExt(cusparseHandle_t handle, int, int,         \
                                                       const T*, const T*, const T*, const T*,    \
                                                       int, size_t* bytes) {                      \
    return no_buffer(handle, bytes);                                                              \
  }                                                                                               \
  cusparseStatus_t cusparse##Name##gtsv2(cusparseHandle_t handle, int n, int right_sides,         \
                                         const T* lower, const T* diagonal, const T* upper, T* b, \
                                         int ldb, void*) {                                        \
    return solve(handle, n, right_sides, lower, diagonal, upper, b, ldb, type);                   \
  }                                                                                               \
  cusparseStatus_t cusparse##Name##gtsv2StridedBatch_bufferSizeExt(                               \
      cusparseHandle_t handle, int, const T*, const T*, const T*, const T*, int, int,             \
      size_t* bytes) {                                                                            \
    return no_buffer(handle, bytes);                                                              \
  }                                                                                               \
  cusparseStatus_t cusparse##Name##gtsv2StridedBatch(                                             \
      cusparseHandle_t handle, int n, const T* lower, const T* diagonal, const T* upper, T* x,    \
      int batches, int stride, void*) {                                                           \
    return solve_batch(handle, n, lower, diagonal, upper, x, batches, stride, type);              \
  }
RUNG_EMU_OF_TYPE(float, S, CUDA_R_32F)
RUNG_EMU_OF_TYPE(double, D, CUDA_R_64F)
RUNG_EMU_OF_TYPE(cuComplex, C, CUDA_C_32F)
RUNG_EMU_OF_TYPE(cuDoubleComplex, Z, CUDA_C_64F)

}  // extern "C"
