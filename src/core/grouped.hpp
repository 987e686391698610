#pragma once
// Ragged groups: products of different sizes whose operands follow each other in memory.

#include <cstddef>
#include <cstdint>

#include "core/batch.hpp"
#include "core/call.hpp"

namespace rung {

/// Where each group begins, in the memory of the operands: group i has the rows of A and C, or the
/// steps of k, from offsets[i] to offsets[i + 1].
struct Groups {
  const std::int32_t* offsets = nullptr;
  bool cuts_k = false;
};

/// `call.batch` products. m, or k if that is cut, is that of all; A and C, or A and B, follow each
/// other; the third operand has a batch stride.
struct GroupedCall {
  GemmCall call;
  Groups groups;
};

/// One group by itself, with offsets in the memory of the host.
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

/// Leaves out the first groups.
inline void advance(GroupedCall& grouped, std::int64_t groups) {
  advance(grouped.call, groups);
  grouped.groups.offsets += groups;
  grouped.call.batch -= groups;
}

}  // namespace rung
