#pragma once
// The host memory of a call's operands, for devices that copy it to their own memory.

#include <cstddef>
#include <cstdint>

#include "core/call.hpp"

namespace rung {

/// The memory of a rows x cols matrix, or of a batch of them, without guards. Rows that are far
/// apart are separate pieces; otherwise the matrix or batch is one piece.
template <class Pointer>
Storage storage_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                   std::int64_t element_bytes, std::int64_t batch = 1);

/// The memory including any guards, for a device that cannot detect out-of-bounds accesses itself.
/// For the virtual GPU, which can, the memory without guards.
template <class Pointer>
Storage host_storage(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                     std::size_t element_bytes, bool is_virtual, std::int64_t batch = 1);

/// The memory of the vectors of a dot product; empty for a null vector.
Storage host_storage_of_x(const DotCall& call, bool is_virtual);
Storage host_storage_of_y(const DotCall& call, bool is_virtual);

}  // namespace rung
