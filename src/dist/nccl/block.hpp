#pragma once
// Rectangles of bytes in device memory.

#include <cstdint>

#include "dist/nccl/backend.hpp"

namespace rung::nccl {

/// Lines of contiguous bytes.
struct Block {
  cuda::DevicePointer data = 0;
  std::int64_t lines = 0, line_bytes = 0;
  std::int64_t pitch = 0;  // bytes from one line to the next

  bool is_empty() const { return lines == 0 || line_bytes == 0; }
};

/// Copies the block in stream order to `to`, with lines that far apart. Either address may be of
/// another GPU.
void copy(const cuda::DriverApi& driver, const Block& from, cuda::DevicePointer to,
          std::int64_t pitch, cuda::Stream stream);

}  // namespace rung::nccl
