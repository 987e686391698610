#pragma once
// Moves operands and calls through the products of a batch.

#include <cstddef>
#include <cstdint>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "core/grouped.hpp"

namespace rung {

/// Advances an operand by `products` products.
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

/// The call for one group. The offsets must be in host memory.
inline GemmCall group_of(const GroupedCall& grouped, std::int64_t index) {
  GemmCall one = grouped.call;
  advance(one, index);
  one.batch = 1;
  const std::int64_t begin = grouped.groups.offsets[index];
  const std::int64_t size = grouped.groups.offsets[index + 1] - begin;
  const auto move = [&](auto& operand, std::int64_t stride, std::size_t element_bytes) {
    operand.batch_stride = begin * stride;
    advance(operand, 1, element_bytes);
    operand.batch_stride = 0;
  };
  const std::size_t in = input_bytes(one.dtype), out = output_bytes(one.dtype);
  if (grouped.groups.cuts_k) {
    one.k = size;
    move(one.a, one.a.col_stride, in);
    move(one.b, one.b.row_stride, in);
  } else {
    one.m = size;
    move(one.a, one.a.row_stride, in);
    move(one.c, one.c.row_stride, out);
  }
  return one;
}

/// Skips the first `groups` groups.
inline void advance(GroupedCall& grouped, std::int64_t groups) {
  advance(grouped.call, groups);
  grouped.groups.offsets += groups;
  grouped.call.batch -= groups;
}

}  // namespace rung
