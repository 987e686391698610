#pragma once
// cooperative_groups::reduce: one value from all threads of a group, known to each of them.

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define RUNG_EMU_CG_OPERATION(NAME, EXPRESSION)                                    \
  template <class T>                                                               \
  struct NAME {                                                                    \
    __device__ __forceinline__ T operator()(T a, T b) const { return EXPRESSION; } \
  };
RUNG_EMU_CG_OPERATION(plus, a + b)
RUNG_EMU_CG_OPERATION(less, b < a ? b : a)
RUNG_EMU_CG_OPERATION(greater, a < b ? b : a)
RUNG_EMU_CG_OPERATION(bit_and, a& b)
RUNG_EMU_CG_OPERATION(bit_or, a | b)
RUNG_EMU_CG_OPERATION(bit_xor, a ^ b)
#undef RUNG_EMU_CG_OPERATION

template <unsigned int Size, class Parent, class T, class Operation>
__device__ __forceinline__ T reduce(const thread_block_tile<Size, Parent>& tile, T value,
                                    Operation&& operation) {
  for (unsigned int step = Size / 2; step > 0; step /= 2) {
    value = operation(value, tile.shfl_xor(value, step));
  }
  return value;
}
template <class T, class Operation>
__device__ __forceinline__ T reduce(const coalesced_group& group, T value, Operation&& operation) {
  T sum = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.size(); ++rank) {
    sum = operation(sum, group.shfl(value, rank));
  }
  return sum;
}

}  // namespace cooperative_groups
