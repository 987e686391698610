#pragma once
// The host memory of a call's operands, for devices that copy it to their own memory.

#include <cstddef>
#include <cstdint>

#include "core/call.hpp"

namespace rung {

/// The memory of a rows x cols matrix with elements of that many bytes, without guards, or of a
/// batch of them. Rows that are far apart are separate pieces; those that are close together form
/// one piece, and so does a batch.
template <class Pointer>
Storage storage_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                   std::int64_t element_bytes, std::int64_t batch = 1);

/// The same including any guards. The virtual GPU does not need them: it detects out-of-bounds
/// accesses itself.
template <class Pointer>
Storage host_storage(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                     std::size_t element_bytes, bool is_virtual, std::int64_t batch = 1);

/// The same for the vectors of a dot product; empty for a null one.
Storage host_storage_of_x(const DotCall& call, bool is_virtual);
Storage host_storage_of_y(const DotCall& call, bool is_virtual);

}  // namespace rung
