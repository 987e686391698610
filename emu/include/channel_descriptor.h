#pragma once
// cudaCreateChannelDesc<T>(): the format of a texel of type T.

#define __CHANNEL_DESCRIPTOR_H__

#include "driver_types.h"
#include "vector_types.h"

#ifdef __cplusplus

template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define RUNG_EMU_CHANNELS(TYPE, NAME, KIND)                        \
  template <>                                                      \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<TYPE>() {     \
    return cudaCreateChannelDesc(8 * sizeof(TYPE), 0, 0, 0, KIND); \
  }                                                                \
  template <>                                                      \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<NAME##1>() {  \
    return cudaCreateChannelDesc(8 * sizeof(TYPE), 0, 0, 0, KIND); \
  }                                                                \
  template <>                                                      \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<NAME##2>() {  \
    const int bits = 8 * sizeof(TYPE);                             \
    return cudaCreateChannelDesc(bits, bits, 0, 0, KIND);          \
  }                                                                \
  template <>                                                      \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<NAME##4>() {  \
    const int bits = 8 * sizeof(TYPE);                             \
    return cudaCreateChannelDesc(bits, bits, bits, bits, KIND);    \
  }
RUNG_EMU_CHANNELS(signed char, char, cudaChannelFormatKindSigned)
RUNG_EMU_CHANNELS(unsigned char, uchar, cudaChannelFormatKindUnsigned)
RUNG_EMU_CHANNELS(short, short, cudaChannelFormatKindSigned)
RUNG_EMU_CHANNELS(unsigned short, ushort, cudaChannelFormatKindUnsigned)
RUNG_EMU_CHANNELS(int, int, cudaChannelFormatKindSigned)
RUNG_EMU_CHANNELS(unsigned int, uint, cudaChannelFormatKindUnsigned)
RUNG_EMU_CHANNELS(float, float, cudaChannelFormatKindFloat)
#undef RUNG_EMU_CHANNELS

template <>
inline cudaChannelFormatDesc cudaCreateChannelDesc<char>() {
  return cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindSigned);
}

#endif
