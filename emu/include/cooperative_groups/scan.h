#pragma once
// cooperative_groups::inclusive_scan and exclusive_scan: each thread's value combined with those of
// the threads of lower rank.

#include "../cooperative_groups.h"
#include "reduce.h"

namespace cooperative_groups {

namespace rung_emu {

// By doubling: after each step a value covers twice as many threads.
template <class Group, class T, class Operation>
__device__ __forceinline__ T scan(const Group& group, T value, const Operation& operation) {
  for (unsigned int step = 1; step < group.size(); step *= 2) {
    const T before = group.shfl_up(value, step);
    if (group.thread_rank() >= step) value = operation(before, value);
  }
  return value;
}

}  // namespace rung_emu

template <class Group, class T, class Operation>
__device__ __forceinline__ T inclusive_scan(const Group& group, T value, Operation&& operation) {
  return rung_emu::scan(group, value, operation);
}
template <class Group, class T>
__device__ __forceinline__ T inclusive_scan(const Group& group, T value) {
  return rung_emu::scan(group, value, plus<T>());
}
/// The first thread gets a value of zeros.
template <class Group, class T, class Operation>
__device__ __forceinline__ T exclusive_scan(const Group& group, T value, Operation&& operation) {
  const T before = group.shfl_up(rung_emu::scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
__device__ __forceinline__ T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
