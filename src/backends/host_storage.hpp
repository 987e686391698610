#pragma once
// Where the operands of a call lie, for a device that has memory of its own to copy.

#include <cstddef>
#include <cstdint>

#include "core/call.hpp"

namespace rung {

/// Where a rows x cols matrix with elements of that many bytes lies, without any guards. Lines that
/// are far apart are pieces of their own; those that are close together are one piece.
template <class Pointer>
Storage storage_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                   std::int64_t element_bytes);

/// The same with the guards around the matrix, where there are any. The virtual GPU does without:
/// it notices itself what is read or written past the matrix.
template <class Pointer>
Storage host_storage(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                     std::size_t element_bytes, bool is_virtual);

/// The same for the vectors of a dot product; nothing for a null one.
Storage host_storage_of_x(const DotCall& call, bool is_virtual);
Storage host_storage_of_y(const DotCall& call, bool is_virtual);

}  // namespace rung
