#include "backends/cuda/device_matrix.hpp"

#include <cstddef>

#include "backends/cuda/driver_error.hpp"

namespace rung::cuda {

namespace {

/// Device memory is aligned at least to 256 bytes: there, what is copied begins as far behind a
/// multiple of 512 as here.
std::size_t offset_of(const Storage& host) {
  return reinterpret_cast<std::uintptr_t>(host.begin) % 512;
}

std::size_t bytes_for(const Storage& host) {
  if (host.rows == 0 || host.row_bytes == 0) return 0;
  return offset_of(host) + static_cast<std::size_t>((host.rows - 1) * host.pitch + host.row_bytes);
}

}  // namespace

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

DeviceMemory::DeviceMemory(Gpu& gpu, std::size_t bytes)
    : gpu_(gpu), generation_(gpu.generation()), bytes_(bytes) {
  if (bytes > 0) check(gpu.api(), gpu.api().cuMemAlloc(&address_, bytes), "cuMemAlloc");
}

DeviceMemory::~DeviceMemory() {
  if (address_ != 0 && generation_ == gpu_.generation()) gpu_.api().cuMemFree(address_);
}

void DeviceMemory::set_to_zero() {
  if (bytes_ > 0) check(gpu_.api(), gpu_.api().cuMemsetD8(address_, 0, bytes_), "cuMemsetD8");
}

DeviceMatrix::DeviceMatrix(Gpu& gpu, const Storage& host, const void* data)
    : gpu_(gpu), host_(host), memory_(gpu, bytes_for(host)) {
  if (memory_.address() == 0) return;
  begin_ = memory_.address() + offset_of(host);
  data_ = begin_ + static_cast<DevicePointer>(static_cast<const std::byte*>(data) - host.begin);
  for (std::int64_t row = 0; row < host.rows; ++row) {
    const std::int64_t at = row * host.pitch;
    check(gpu.api(),
          gpu.api().cuMemcpyHtoD(begin_ + static_cast<DevicePointer>(at), host.begin + at,
                                 static_cast<std::size_t>(host.row_bytes)),
          "cuMemcpyHtoD");
  }
}

void DeviceMatrix::download() const {
  const DriverApi& api = gpu_.api();
  for (std::int64_t row = 0; row < host_.rows && begin_ != 0; ++row) {
    const std::int64_t at = row * host_.pitch;
    check(api,
          api.cuMemcpyDtoH(host_.begin + at, begin_ + static_cast<DevicePointer>(at),
                           static_cast<std::size_t>(host_.row_bytes)),
          "cuMemcpyDtoH");
  }
}

}  // namespace rung::cuda
