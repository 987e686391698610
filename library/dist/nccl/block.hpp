#pragma once
// Rectangles of bytes in device memory.

#include <cstdint>

#include "library/dist/nccl/backend.hpp"

namespace rung::nccl {

/// Lines of contiguous bytes.
struct Block {
  cuda::DevicePointer data = 0;
  std::int64_t lines = 0, line_bytes = 0;
  std::int64_t pitch = 0;  // bytes between line starts

  bool is_empty() const { return lines == 0 || line_bytes == 0; }
};

/// Copies the block to `to`, with `pitch` bytes between line starts, in stream order. Either
/// address may be on another GPU.
void copy(const cuda::DriverApi& driver, const Block& from, cuda::DevicePointer to,
          std::int64_t pitch, cuda::Stream stream);

}  // namespace rung::nccl
