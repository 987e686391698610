#pragma once
// surf2Dread, surf2Dwrite and their like (CUDA C++ Programming Guide, "Surface Functions"). x is in
// bytes.

#include "rung_emu/texture_data.h"

namespace rung_emu {

#define RUNG_EMU_SURF static __device__ __forceinline__

/// The address of what is accessed; 0 for a place outside whose access has no effect. A place
/// outside in mode trap is accessed as it is, and reported.
RUNG_EMU_SURF unsigned long long surface_address(cudaSurfaceObject_t surface, int bytes, int x,
                                                 int y, int z, cudaSurfaceBoundaryMode mode) {
  const TextureData& of = *reinterpret_cast<const TextureData*>(surface);
  const int row = static_cast<int>(of.width) * of.channels * of.channel_bits / 8;
  const int height = static_cast<int>(of.height);
  const int depth = static_cast<int>(of.layers != 0 ? of.layers : of.depth);
  const bool is_inside = x >= 0 && x <= row - bytes && y >= 0 && y < height && z >= 0 && z < depth;
  if (!is_inside) {
    if (mode == cudaBoundaryModeZero) return 0;
    if (mode == cudaBoundaryModeTrap) __trap();
    x = x < 0 ? 0 : x > row - bytes ? row - bytes : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    z = z < 0 ? 0 : z >= depth ? depth - 1 : z;
  }
  return of.data + static_cast<unsigned>(z) * of.slice + static_cast<unsigned>(y) * of.pitch +
         static_cast<unsigned>(x);
}

template <class T>
RUNG_EMU_SURF T surface_read(cudaSurfaceObject_t surface, int x, int y, int z,
                             cudaSurfaceBoundaryMode mode) {
  const unsigned long long at =
      surface_address(surface, static_cast<int>(sizeof(T)), x, y, z, mode);
  return at == 0 ? T{} : *reinterpret_cast<const T*>(at);
}

template <class T>
RUNG_EMU_SURF void surface_write(T value, cudaSurfaceObject_t surface, int x, int y, int z,
                                 cudaSurfaceBoundaryMode mode) {
  const unsigned long long at =
      surface_address(surface, static_cast<int>(sizeof(T)), x, y, z, mode);
  if (at != 0) *reinterpret_cast<T*>(at) = value;
}

}  // namespace rung_emu

#define RUNG_EMU_SURF_FUNCTION(NAME, PLACE, X, Y, Z)                                               \
  template <class T>                                                                               \
  RUNG_EMU_SURF T NAME##read(cudaSurfaceObject_t surface, RUNG_EMU_SURF_UNPACK PLACE,              \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                \
    return rung_emu::surface_read<T>(surface, X, Y, Z, mode);                                      \
  }                                                                                                \
  template <class T>                                                                               \
  RUNG_EMU_SURF void NAME##read(T* to, cudaSurfaceObject_t surface, RUNG_EMU_SURF_UNPACK PLACE,    \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {             \
    *to = rung_emu::surface_read<T>(surface, X, Y, Z, mode);                                       \
  }                                                                                                \
  template <class T>                                                                               \
  RUNG_EMU_SURF void NAME##write(T value, cudaSurfaceObject_t surface, RUNG_EMU_SURF_UNPACK PLACE, \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
    rung_emu::surface_write<T>(value, surface, X, Y, Z, mode);                                     \
  }
#define RUNG_EMU_SURF_UNPACK(...) __VA_ARGS__
RUNG_EMU_SURF_FUNCTION(surf1D, (int x), x, 0, 0)
RUNG_EMU_SURF_FUNCTION(surf2D, (int x, int y), x, y, 0)
RUNG_EMU_SURF_FUNCTION(surf3D, (int x, int y, int z), x, y, z)
RUNG_EMU_SURF_FUNCTION(surf1DLayered, (int x, int layer), x, 0, layer)
RUNG_EMU_SURF_FUNCTION(surf2DLayered, (int x, int y, int layer), x, y, layer)
RUNG_EMU_SURF_FUNCTION(surfCubemap, (int x, int y, int face), x, y, face)
#undef RUNG_EMU_SURF_UNPACK
#undef RUNG_EMU_SURF_FUNCTION
#undef RUNG_EMU_SURF
