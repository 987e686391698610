#pragma once
// Shuffles without a mask, which compute capability 7.0 took away: here they are those with a
// mask of the lanes that execute them together.

#define RUNG_EMU_OLD_SHUFFLE(NAME, OFFSET)                                                 \
  template <class T>                                                                       \
  static __device__ __forceinline__ T NAME(T value, OFFSET offset, int width = warpSize) { \
    return NAME##_sync(__activemask(), value, offset, width);                              \
  }
RUNG_EMU_OLD_SHUFFLE(__shfl, int)
RUNG_EMU_OLD_SHUFFLE(__shfl_up, unsigned int)
RUNG_EMU_OLD_SHUFFLE(__shfl_down, unsigned int)
RUNG_EMU_OLD_SHUFFLE(__shfl_xor, int)
#undef RUNG_EMU_OLD_SHUFFLE
