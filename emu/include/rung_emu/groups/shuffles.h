#pragma once
// Shuffles of values of any size, word by word.

namespace cooperative_groups {

namespace rung_emu {

/// shuffle(word) for each 32-bit word of the value.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffle_words(const T& value, const Shuffle& shuffle) {
  constexpr int count = (sizeof(T) + 3) / 4;
  unsigned int words[count] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i) words[i] = shuffle(words[i]);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}

__device__ __forceinline__ unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }

/// The lane of the `rank`-th bit of a mask.
__device__ __forceinline__ int lane_of(unsigned int mask, unsigned int rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return __ffs(static_cast<int>(mask)) - 1;
}

}  // namespace rung_emu

}  // namespace cooperative_groups
