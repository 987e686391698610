#include "emu/libraries/cusparse/matrix.hpp"

#include <algorithm>

#include "emu/runtime/runtime.hpp"

namespace rung::emu::cusparse {
namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw Failure{CUSPARSE_STATUS_EXECUTION_FAILED};
}

template <class T>
std::vector<T> download(const cusparseContext& context, const void* from, std::size_t count) {
  std::vector<T> host(count);
  check(cudaMemcpyAsync(host.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost,
                        context.stream));
  check(cudaStreamSynchronize(context.stream));
  return host;
}

template <class T>
void upload(const cusparseContext& context, void* to, const std::vector<T>& host) {
  check(cudaMemcpyAsync(to, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice,
                        context.stream));
}

/// Calls f with a value of the C++ type.
template <class F>
auto with_type(cudaDataType type, const F& f) {
  switch (type) {
    case CUDA_R_32F: return f(float{});
    case CUDA_R_64F: return f(double{});
    case CUDA_C_32F: return f(std::complex<float>{});
    case CUDA_C_64F: return f(std::complex<double>{});
    default: throw Failure{CUSPARSE_STATUS_NOT_SUPPORTED};
  }
}

template <class F>
auto with_index_type(cusparseIndexType_t type, const F& f) {
  switch (type) {
    case CUSPARSE_INDEX_16U: return f(std::uint16_t{});
    case CUSPARSE_INDEX_32I: return f(std::int32_t{});
    case CUSPARSE_INDEX_64I: return f(std::int64_t{});
  }
  throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
}

template <class T>
T narrowed(const Value& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return static_cast<T>(value);
  }
}

/// The place of an element in the memory of a dense matrix.
std::size_t place(const cusparseDnMatDescr& matrix, int64_t row, int64_t col) {
  const int64_t at =
      matrix.order == CUSPARSE_ORDER_ROW ? row * matrix.ld + col : col * matrix.ld + row;
  return static_cast<std::size_t>(at);
}

int64_t span(const cusparseDnMatDescr& matrix) {
  if (matrix.rows == 0 || matrix.cols == 0) return 0;
  return static_cast<int64_t>(place(matrix, matrix.rows - 1, matrix.cols - 1)) + 1;
}

void* moved(void* pointer, int64_t elements, std::size_t element_bytes) {
  return static_cast<char*>(pointer) + elements * static_cast<int64_t>(element_bytes);
}

std::size_t bytes_of(cusparseIndexType_t type) {
  return with_index_type(type, [](auto sample) { return sizeof(sample); });
}

std::size_t bytes_of(cudaDataType type) {
  return with_type(type, [](auto sample) { return sizeof(sample); });
}

}  // namespace

void let_host_wait(const cusparseContext& context) {
  emu::LibraryCall::let_host_wait(to_driver(context.stream));
}

cusparseSpMatDescr batch_of(const cusparseSpMatDescr& matrix, int batch) {
  cusparseSpMatDescr one = matrix;
  one.outer = moved(matrix.outer, batch * matrix.outer_stride, bytes_of(matrix.outer_type));
  one.inner = moved(matrix.inner, batch * matrix.inner_stride, bytes_of(matrix.inner_type));
  one.values = moved(matrix.values, batch * matrix.inner_stride, bytes_of(matrix.type));
  return one;
}

cusparseDnMatDescr batch_of(const cusparseDnMatDescr& matrix, int batch) {
  cusparseDnMatDescr one = matrix;
  one.values = moved(matrix.values, batch * matrix.stride, bytes_of(matrix.type));
  return one;
}

std::vector<Value> read_values(const cusparseContext& context, const void* from, int64_t count,
                               cudaDataType type) {
  return with_type(type, [&](auto sample) {
    const auto host = download<decltype(sample)>(context, from, static_cast<std::size_t>(count));
    return std::vector<Value>(host.begin(), host.end());
  });
}

void write_values(const cusparseContext& context, void* to, const std::vector<Value>& values,
                  cudaDataType type) {
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    std::vector<T> host(values.size());
    std::transform(values.begin(), values.end(), host.begin(), narrowed<T>);
    upload(context, to, host);
  });
}

std::vector<int64_t> read_indices(const cusparseContext& context, const void* from, int64_t count,
                                  cusparseIndexType_t type, cusparseIndexBase_t base) {
  return with_index_type(type, [&](auto sample) {
    const auto host = download<decltype(sample)>(context, from, static_cast<std::size_t>(count));
    std::vector<int64_t> indices(host.begin(), host.end());
    for (int64_t& index : indices) index -= base;
    return indices;
  });
}

void write_indices(const cusparseContext& context, void* to, const std::vector<int64_t>& indices,
                   cusparseIndexType_t type, cusparseIndexBase_t base) {
  with_index_type(type, [&](auto sample) {
    using T = decltype(sample);
    std::vector<T> host;
    for (const int64_t index : indices) host.push_back(static_cast<T>(index + base));
    upload(context, to, host);
  });
}

Value read_scalar(const cusparseContext& context, const void* scalar, cudaDataType type) {
  require(scalar);
  if (context.pointer_mode == CUSPARSE_POINTER_MODE_DEVICE) {
    return read_values(context, scalar, 1, type).front();
  }
  return with_type(type, [&](auto sample) {
    return static_cast<Value>(*static_cast<const decltype(sample)*>(scalar));
  });
}

std::vector<Entry> read_entries(const cusparseContext& context, const cusparseSpMatDescr& matrix) {
  const bool is_coo = matrix.format == CUSPARSE_FORMAT_COO;
  const bool by_columns = matrix.format == CUSPARSE_FORMAT_CSC;
  const int64_t outer_count = is_coo ? matrix.nnz : by_columns ? matrix.cols + 1 : matrix.rows + 1;
  const auto outer =
      read_indices(context, matrix.outer, outer_count, matrix.outer_type, matrix.base);
  const auto inner =
      read_indices(context, matrix.inner, matrix.nnz, matrix.inner_type, matrix.base);
  const auto values = read_values(context, matrix.values, matrix.nnz, matrix.type);
  std::vector<Entry> entries(values.size());
  std::size_t line = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!is_coo) {
      while (line + 2 < outer.size() && outer[line + 1] <= static_cast<int64_t>(i)) ++line;
    }
    const int64_t of_line = is_coo ? outer[i] : static_cast<int64_t>(line);
    entries[i] =
        by_columns ? Entry{inner[i], of_line, values[i]} : Entry{of_line, inner[i], values[i]};
    const bool is_inside = entries[i].row >= 0 && entries[i].row < matrix.rows &&
                           entries[i].col >= 0 && entries[i].col < matrix.cols;
    if (!is_inside) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  }
  return entries;
}

void write_entries(const cusparseContext& context, const cusparseSpMatDescr& matrix,
                   std::vector<Entry> entries) {
  const bool by_columns = matrix.format == CUSPARSE_FORMAT_CSC;
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return by_columns ? std::pair(a.col, a.row) < std::pair(b.col, b.row)
                      : std::pair(a.row, a.col) < std::pair(b.row, b.col);
  });
  std::vector<int64_t> lines, inner;
  std::vector<Value> values;
  for (const Entry& entry : entries) {
    lines.push_back(by_columns ? entry.col : entry.row);
    inner.push_back(by_columns ? entry.row : entry.col);
    values.push_back(entry.value);
  }
  if (matrix.format != CUSPARSE_FORMAT_COO) {
    const int64_t count = by_columns ? matrix.cols : matrix.rows;
    std::vector<int64_t> offsets(static_cast<std::size_t>(count) + 1, 0);
    for (const int64_t line : lines) ++offsets[static_cast<std::size_t>(line) + 1];
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    lines = std::move(offsets);
  }
  write_indices(context, matrix.outer, lines, matrix.outer_type, matrix.base);
  write_indices(context, matrix.inner, inner, matrix.inner_type, matrix.base);
  write_values(context, matrix.values, values, matrix.type);
}

void apply(cusparseOperation_t op, std::vector<Entry>& entries) {
  require_known(op);
  if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return;
  for (Entry& entry : entries) {
    std::swap(entry.row, entry.col);
    if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) entry.value = std::conj(entry.value);
  }
}

Dense read_dense(const cusparseContext& context, const cusparseDnMatDescr& matrix) {
  const auto values = read_values(context, matrix.values, span(matrix), matrix.type);
  Dense dense{matrix.rows, matrix.cols,
              std::vector<Value>(static_cast<std::size_t>(matrix.rows * matrix.cols))};
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t col = 0; col < matrix.cols; ++col) {
      dense.at(row, col) = values[place(matrix, row, col)];
    }
  }
  return dense;
}

void write_dense(const cusparseContext& context, const cusparseDnMatDescr& matrix,
                 const Dense& dense) {
  // Memory between columns or rows is left unchanged.
  const bool is_packed =
      matrix.ld == (matrix.order == CUSPARSE_ORDER_ROW ? matrix.cols : matrix.rows);
  std::vector<Value> values(static_cast<std::size_t>(span(matrix)));
  if (!is_packed) values = read_values(context, matrix.values, span(matrix), matrix.type);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t col = 0; col < matrix.cols; ++col) {
      values[place(matrix, row, col)] = dense.at(row, col);
    }
  }
  write_values(context, matrix.values, values, matrix.type);
}

Dense applied(cusparseOperation_t op, const Dense& dense) {
  require_known(op);
  if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return dense;
  Dense result{dense.cols, dense.rows, std::vector<Value>(dense.values.size())};
  for (int64_t row = 0; row < dense.rows; ++row) {
    for (int64_t col = 0; col < dense.cols; ++col) {
      const Value& value = dense.at(row, col);
      result.at(col, row) = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(value) : value;
    }
  }
  return result;
}

}  // namespace rung::emu::cusparse
