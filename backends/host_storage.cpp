#include "backends/host_storage.hpp"

#include "core/dtype.hpp"

namespace rung {

template <class Pointer>
Storage storage_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                   std::int64_t element_bytes, std::int64_t batch) {
  if (rows == 0 || cols == 0) return {};
  const bool by_rows = matrix.col_stride == 1;
  const std::int64_t lines = by_rows ? rows : cols;
  const std::int64_t bytes = (by_rows ? cols : rows) * element_bytes;
  const std::int64_t pitch = (by_rows ? matrix.row_stride : matrix.col_stride) * element_bytes;
  auto* const begin =
      static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(matrix.data)));
  constexpr std::int64_t far = 4096;  // bytes: a gap of this size makes separate copies cheaper
  if (batch == 1 && lines > 1 && pitch - bytes > far) return {begin, lines, bytes, pitch};
  const std::int64_t all =
      (batch - 1) * matrix.batch_stride * element_bytes + (lines - 1) * pitch + bytes;
  return {begin, 1, all, all};
}

template Storage storage_of(const AnyMatrix<void*>&, std::int64_t, std::int64_t, std::int64_t,
                            std::int64_t);
template Storage storage_of(const AnyMatrix<const void*>&, std::int64_t, std::int64_t, std::int64_t,
                            std::int64_t);

template <class Pointer>
Storage host_storage(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                     std::size_t element_bytes, bool is_virtual, std::int64_t batch) {
  if (!is_virtual && matrix.storage.begin != nullptr) return matrix.storage;
  return storage_of(matrix, rows, cols, static_cast<std::int64_t>(element_bytes), batch);
}

template Storage host_storage(const AnyMatrix<void*>&, std::int64_t, std::int64_t, std::size_t,
                              bool, std::int64_t);
template Storage host_storage(const AnyMatrix<const void*>&, std::int64_t, std::int64_t,
                              std::size_t, bool, std::int64_t);

namespace {

/// The memory of the elements of a vector, given its first one. `guarded` includes the guards.
Storage vector_storage(const DotCall& call, const void* first, std::int64_t increment,
                       const Storage& guarded, bool is_virtual) {
  if (first == nullptr || call.n == 0) return {};
  if (!is_virtual && guarded.begin != nullptr) return guarded;
  const auto size = static_cast<std::int64_t>(input_bytes(call.dtype));
  const std::int64_t lowest = increment < 0 ? (call.n - 1) * increment * size : 0;
  const AnyMatrix<const void*> column{static_cast<const std::byte*>(first) + lowest,
                                      increment < 0 ? -increment : increment, 1};
  return storage_of(column, increment == 0 ? 1 : call.n, 1, size);
}

}  // namespace

Storage host_storage_of_x(const DotCall& call, bool is_virtual) {
  return vector_storage(call, call.x, call.incx, call.x_storage, is_virtual);
}

Storage host_storage_of_y(const DotCall& call, bool is_virtual) {
  return vector_storage(call, call.y, call.incy, call.y_storage, is_virtual);
}

}  // namespace rung
