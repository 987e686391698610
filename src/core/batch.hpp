#pragma once
// From product to product of a batch.

#include <cstddef>
#include <cstdint>

#include "core/call.hpp"
#include "core/dtype.hpp"

namespace rung {

/// Moves an operand by so many products.
template <class Pointer>
void advance(AnyMatrix<Pointer>& operand, std::int64_t products, std::size_t element_bytes) {
  if (operand.pointers != nullptr) {
    operand.pointers += products;
  } else if (operand.data != nullptr) {
    const auto bytes = static_cast<std::uintptr_t>(products * operand.batch_stride) * element_bytes;
    operand.data =
        reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(operand.data) + bytes);
  }
}

inline void advance(GemmCall& call, std::int64_t products) {
  advance(call.a, products, input_bytes(call.dtype));
  advance(call.b, products, input_bytes(call.dtype));
  advance(call.c, products, output_bytes(call.dtype));
}

}  // namespace rung
