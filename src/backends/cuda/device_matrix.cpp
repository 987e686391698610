#include "backends/cuda/device_matrix.hpp"

#include <cstddef>

#include "backends/cuda/driver_error.hpp"

namespace rung::cuda {

template <class Pointer>
Storage storage_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                   std::int64_t element_bytes) {
  if (rows == 0 || cols == 0) return {};
  const bool by_rows = matrix.col_stride == 1;
  const std::int64_t lines = by_rows ? rows : cols;
  const std::int64_t bytes = (by_rows ? cols : rows) * element_bytes;
  const std::int64_t pitch = (by_rows ? matrix.row_stride : matrix.col_stride) * element_bytes;
  auto* const begin =
      static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(matrix.data)));
  constexpr std::int64_t far = 4096;  // a copy of its own costs less than so many bytes
  if (lines > 1 && pitch - bytes > far) return {begin, lines, bytes, pitch};
  const std::int64_t all = (lines - 1) * pitch + bytes;
  return {begin, 1, all, all};
}

template Storage storage_of(const AnyMatrix<void*>&, std::int64_t, std::int64_t, std::int64_t);
template Storage storage_of(const AnyMatrix<const void*>&, std::int64_t, std::int64_t,
                            std::int64_t);

DeviceMatrix::DeviceMatrix(Gpu& gpu, const Storage& host, const void* data)
    : gpu_(gpu), generation_(gpu.generation()), host_(host) {
  if (host.rows == 0 || host.row_bytes == 0) return;
  constexpr std::uintptr_t alignment = 512;
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(host.begin) % alignment;
  const std::int64_t bytes = (host.rows - 1) * host.pitch + host.row_bytes;
  const DriverApi& api = gpu.api();
  check(api, api.cuMemAlloc(&allocated_, before + static_cast<std::size_t>(bytes)), "cuMemAlloc");
  begin_ = allocated_ + before;
  data_ = begin_ + static_cast<DevicePointer>(static_cast<const std::byte*>(data) - host.begin);
  upload();
}

DeviceMatrix::~DeviceMatrix() {
  if (allocated_ != 0 && generation_ == gpu_.generation()) gpu_.api().cuMemFree(allocated_);
}

void DeviceMatrix::upload() const {
  const DriverApi& api = gpu_.api();
  for (std::int64_t row = 0; row < host_.rows && allocated_ != 0; ++row) {
    const std::int64_t at = row * host_.pitch;
    check(api,
          api.cuMemcpyHtoD(begin_ + static_cast<DevicePointer>(at), host_.begin + at,
                           static_cast<std::size_t>(host_.row_bytes)),
          "cuMemcpyHtoD");
  }
}

void DeviceMatrix::download() const {
  const DriverApi& api = gpu_.api();
  for (std::int64_t row = 0; row < host_.rows && allocated_ != 0; ++row) {
    const std::int64_t at = row * host_.pitch;
    check(api,
          api.cuMemcpyDtoH(host_.begin + at, begin_ + static_cast<DevicePointer>(at),
                           static_cast<std::size_t>(host_.row_bytes)),
          "cuMemcpyDtoH");
  }
}

}  // namespace rung::cuda
