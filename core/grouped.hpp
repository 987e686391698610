#pragma once
// Grouped products: sizes differ between groups, and the operands of all groups are consecutive in
// memory.

#include <cstdint>

#include "core/call.hpp"

namespace rung {

/// Group i covers rows [offsets[i], offsets[i + 1]) of A and C or, if cuts_k, that range of k.
/// `offsets` is in the same memory as the operands.
struct Groups {
  const std::int32_t* offsets = nullptr;
  bool cuts_k = false;
};

/// `call.batch` products. If rows are grouped, call.m is the total number of rows, A and C are
/// concatenated, and B has a batch stride. If k is grouped, call.k is the total, A and B are
/// concatenated, and C has a batch stride.
struct GroupedCall {
  GemmCall call;
  Groups groups;
};

}  // namespace rung
