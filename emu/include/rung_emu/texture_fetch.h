#pragma once
// tex1D, tex2D, tex3D and their like (CUDA C++ Programming Guide, "Texture Functions"; the rules of
// coordinates and filtering are those of its appendix "Texture Fetching").

#include "rung_emu/texture_data.h"

namespace rung_emu {

#define RUNG_EMU_TEX static __device__ __forceinline__

/// Texel index of a coordinate in texels, by the address mode; -1 outside a border.
RUNG_EMU_TEX int texel_index(int at, int size, int mode) {
  switch (mode) {
    case cudaAddressModeWrap: {
      const int rest = at % size;
      return rest < 0 ? rest + size : rest;
    }
    case cudaAddressModeMirror: {
      int rest = at % (2 * size);
      if (rest < 0) rest += 2 * size;
      return rest < size ? rest : 2 * size - 1 - rest;
    }
    case cudaAddressModeBorder: return at < 0 || at >= size ? -1 : at;
    default: return at < 0 ? 0 : at >= size ? size - 1 : at;
  }
}

/// A channel's value: as a number, or in [0, 1] or [-1, 1] if the texture normalises.
template <class Value>
RUNG_EMU_TEX Value channel(const TextureData& of, unsigned long long texel, int number) {
  const unsigned long long at = texel + static_cast<unsigned>(number * of.channel_bits / 8);
  const bool is_signed = of.kind == cudaChannelFormatKindSigned;
  if (of.kind == cudaChannelFormatKindFloat) {
    if (of.channel_bits == 16) {
      return static_cast<Value>(static_cast<float>(*reinterpret_cast<const _Float16*>(at)));
    }
    return static_cast<Value>(*reinterpret_cast<const float*>(at));
  }
  const bool normalizes = of.read_mode == cudaReadModeNormalizedFloat;
  if (of.channel_bits == 8) {
    if (is_signed) {
      const int value = *reinterpret_cast<const signed char*>(at);
      return normalizes ? static_cast<Value>(fmaxf(value / 127.0f, -1.0f))
                        : static_cast<Value>(value);
    }
    const int value = *reinterpret_cast<const unsigned char*>(at);
    return normalizes ? static_cast<Value>(value / 255.0f) : static_cast<Value>(value);
  }
  if (of.channel_bits == 16) {
    if (is_signed) {
      const int value = *reinterpret_cast<const short*>(at);
      return normalizes ? static_cast<Value>(fmaxf(value / 32767.0f, -1.0f))
                        : static_cast<Value>(value);
    }
    const int value = *reinterpret_cast<const unsigned short*>(at);
    return normalizes ? static_cast<Value>(value / 65535.0f) : static_cast<Value>(value);
  }
  if (is_signed) return static_cast<Value>(*reinterpret_cast<const int*>(at));
  return static_cast<Value>(*reinterpret_cast<const unsigned int*>(at));
}

/// The types of a fetch: Texel<float4>::channels numbers of Texel<float4>::Number.
template <class T>
struct Texel {
  typedef T Number;
  static constexpr int channels = 1;
  template <class Get>
  static __device__ __forceinline__ T make(const Get& get) {
    return static_cast<T>(get(0));
  }
};
#define RUNG_EMU_TEXEL(TYPE, NAME)                                           \
  template <>                                                                \
  struct Texel<NAME##1> {                                                    \
    typedef TYPE Number;                                                     \
    static constexpr int channels = 1;                                       \
    template <class Get>                                                     \
    static __device__ __forceinline__ NAME##1 make(const Get& get) {         \
      return NAME##1 {static_cast<TYPE>(get(0))};                            \
    }                                                                        \
  };                                                                         \
  template <>                                                                \
  struct Texel<NAME##2> {                                                    \
    typedef TYPE Number;                                                     \
    static constexpr int channels = 2;                                       \
    template <class Get>                                                     \
    static __device__ __forceinline__ NAME##2 make(const Get& get) {         \
      return NAME##2 {static_cast<TYPE>(get(0)), static_cast<TYPE>(get(1))}; \
    }                                                                        \
  };                                                                         \
  template <>                                                                \
  struct Texel<NAME##4> {                                                    \
    typedef TYPE Number;                                                     \
    static constexpr int channels = 4;                                       \
    template <class Get>                                                     \
    static __device__ __forceinline__ NAME##4 make(const Get& get) {         \
      return NAME##4 {static_cast<TYPE>(get(0)), static_cast<TYPE>(get(1)),  \
                      static_cast<TYPE>(get(2)), static_cast<TYPE>(get(3))}; \
    }                                                                        \
  };
RUNG_EMU_TEXEL(signed char, char)
RUNG_EMU_TEXEL(unsigned char, uchar)
RUNG_EMU_TEXEL(short, short)
RUNG_EMU_TEXEL(unsigned short, ushort)
RUNG_EMU_TEXEL(int, int)
RUNG_EMU_TEXEL(unsigned int, uint)
RUNG_EMU_TEXEL(float, float)
#undef RUNG_EMU_TEXEL

/// The type in which a texel's numbers are computed.
template <class Number>
struct Wide {
  typedef Number Type;
};

struct Fetch {
  const TextureData& of;
  int dimensions;
  int layer;

  /// One channel of the texel at these indices, which may be out of range.
  template <class Value>
  __device__ __forceinline__ Value load(int x, int y, int z, int number) const {
    if (number >= of.channels) return static_cast<Value>(number == 3 ? 1 : 0);
    const int i = texel_index(x, static_cast<int>(of.width), of.address_mode[0]);
    const int j =
        dimensions < 2 ? 0 : texel_index(y, static_cast<int>(of.height), of.address_mode[1]);
    const int k =
        dimensions < 3 ? 0 : texel_index(z, static_cast<int>(of.depth), of.address_mode[2]);
    if (i < 0 || j < 0 || k < 0) return static_cast<Value>(of.border[number]);
    const unsigned long long texel =
        of.data + (static_cast<unsigned long long>(k) + static_cast<unsigned>(layer)) * of.slice +
        static_cast<unsigned long long>(j) * of.pitch +
        static_cast<unsigned long long>(i) *
            static_cast<unsigned>(of.channels * of.channel_bits / 8);
    return channel<Value>(of, texel, number);
  }
};

/// The coordinate in texels.
RUNG_EMU_TEX float texel_coordinate(const TextureData& of, float at, unsigned int size, int mode) {
  if (!of.normalized) return at;
  if (mode == cudaAddressModeWrap) at -= floorf(at);
  return at * static_cast<float>(size);
}

/// The two texels of linear filtering, and the weight of the second: 8 bits of fraction.
struct Between {
  int first;
  float weight;
};
RUNG_EMU_TEX Between between(float at) {
  const float shifted = at - 0.5f;
  const float first = floorf(shifted);
  return {static_cast<int>(first), rintf((shifted - first) * 256.0f) * (1.0f / 256.0f)};
}

template <class T>
RUNG_EMU_TEX T fetch_point(const Fetch& fetch, int x, int y, int z) {
  typedef typename Texel<T>::Number Number;
  return Texel<T>::make([&](int number) { return fetch.load<Number>(x, y, z, number); });
}

template <class T>
RUNG_EMU_TEX T fetch_linear(const Fetch& fetch, float x, float y, float z) {
  const Between bx = between(x), by = between(y), bz = between(z);
  return Texel<T>::make([&](int number) {
    float sum = 0;
    const int corners = 1 << fetch.dimensions;
    for (int corner = 0; corner < corners; ++corner) {
      const int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
      float weight = dx ? bx.weight : 1 - bx.weight;
      if (fetch.dimensions > 1) weight *= dy ? by.weight : 1 - by.weight;
      if (fetch.dimensions > 2) weight *= dz ? bz.weight : 1 - bz.weight;
      sum += weight * fetch.load<float>(bx.first + dx, by.first + dy, bz.first + dz, number);
    }
    return sum;
  });
}

template <class T>
RUNG_EMU_TEX T fetch(cudaTextureObject_t texture, int dimensions, float x, float y, float z,
                     int layer) {
  const TextureData& of = *reinterpret_cast<const TextureData*>(texture);
  x = texel_coordinate(of, x, of.width, of.address_mode[0]);
  if (dimensions > 1) y = texel_coordinate(of, y, of.height, of.address_mode[1]);
  if (dimensions > 2) z = texel_coordinate(of, z, of.depth, of.address_mode[2]);
  if (layer < 0) layer = 0;
  if (of.layers != 0 && layer >= static_cast<int>(of.layers)) {
    layer = static_cast<int>(of.layers) - 1;
  }
  const Fetch from{of, dimensions, layer};
  if (of.filter_mode == cudaFilterModeLinear) return fetch_linear<T>(from, x, y, z);
  return fetch_point<T>(from, static_cast<int>(floorf(x)), static_cast<int>(floorf(y)),
                        static_cast<int>(floorf(z)));
}

/// A direction's face of a cube map and the place on it (CUDA C++ Programming Guide, "Cubemap
/// Textures").
struct CubePlace {
  int face;
  float s, t;
};
RUNG_EMU_TEX CubePlace cube_place(float x, float y, float z) {
  const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
  int face;
  float m, s, t;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    m = ax;
    s = x >= 0 ? -z : z;
    t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    m = ay;
    s = x;
    t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5;
    m = az;
    s = z >= 0 ? x : -x;
    t = -y;
  }
  return {face, (s / m + 1) / 2, (t / m + 1) / 2};
}

}  // namespace rung_emu

#define RUNG_EMU_TEX_FUNCTION(NAME, PARAMETERS, ...)              \
  template <class T>                                              \
  RUNG_EMU_TEX T NAME PARAMETERS {                                \
    return __VA_ARGS__;                                           \
  }                                                               \
  template <class T>                                              \
  RUNG_EMU_TEX void NAME(T* to, RUNG_EMU_TEX_UNPACK PARAMETERS) { \
    *to = __VA_ARGS__;                                            \
  }
#define RUNG_EMU_TEX_UNPACK(...) __VA_ARGS__
RUNG_EMU_TEX_FUNCTION(tex1D, (cudaTextureObject_t texture, float x),
                      rung_emu::fetch<T>(texture, 1, x, 0, 0, 0))
RUNG_EMU_TEX_FUNCTION(tex2D, (cudaTextureObject_t texture, float x, float y),
                      rung_emu::fetch<T>(texture, 2, x, y, 0, 0))
RUNG_EMU_TEX_FUNCTION(tex3D, (cudaTextureObject_t texture, float x, float y, float z),
                      rung_emu::fetch<T>(texture, 3, x, y, z, 0))
RUNG_EMU_TEX_FUNCTION(tex1DLayered, (cudaTextureObject_t texture, float x, int layer),
                      rung_emu::fetch<T>(texture, 1, x, 0, 0, layer))
RUNG_EMU_TEX_FUNCTION(tex2DLayered, (cudaTextureObject_t texture, float x, float y, int layer),
                      rung_emu::fetch<T>(texture, 2, x, y, 0, layer))
RUNG_EMU_TEX_FUNCTION(tex1DLod, (cudaTextureObject_t texture, float x, float /*level*/),
                      rung_emu::fetch<T>(texture, 1, x, 0, 0, 0))
RUNG_EMU_TEX_FUNCTION(tex2DLod, (cudaTextureObject_t texture, float x, float y, float /*level*/),
                      rung_emu::fetch<T>(texture, 2, x, y, 0, 0))
RUNG_EMU_TEX_FUNCTION(tex3DLod,
                      (cudaTextureObject_t texture, float x, float y, float z, float /*level*/),
                      rung_emu::fetch<T>(texture, 3, x, y, z, 0))
RUNG_EMU_TEX_FUNCTION(
    tex1Dfetch, (cudaTextureObject_t texture, int x),
    rung_emu::fetch_point<T>(
        rung_emu::Fetch{*reinterpret_cast<const rung_emu::TextureData*>(texture), 1, 0}, x, 0, 0))
#undef RUNG_EMU_TEX_UNPACK
#undef RUNG_EMU_TEX_FUNCTION

template <class T>
RUNG_EMU_TEX T texCubemapLayered(cudaTextureObject_t texture, float x, float y, float z,
                                 int layer) {
  const rung_emu::CubePlace at = rung_emu::cube_place(x, y, z);
  return rung_emu::fetch<T>(texture, 2, at.s, at.t, 0, 6 * layer + at.face);
}
template <class T>
RUNG_EMU_TEX T texCubemap(cudaTextureObject_t texture, float x, float y, float z) {
  return texCubemapLayered<T>(texture, x, y, z, 0);
}
#undef RUNG_EMU_TEX
