#pragma once
// The names of simd.h, which host programs share with kernels.

#define RUNG_METAL_SIMD_NAME(T, N)          \
  using vector_##T##N = T##N;               \
  using simd_##T##N = T##N;                 \
  using simd_packed_##T##N = packed_##T##N; \
  namespace simd {                          \
  using ::T##N;                             \
  using packed_##T##N = ::packed_##T##N;    \
  }
#define RUNG_METAL_SIMD_NAMES(T) \
  RUNG_METAL_SIMD_NAME(T, 2) RUNG_METAL_SIMD_NAME(T, 3) RUNG_METAL_SIMD_NAME(T, 4)
RUNG_METAL_FOR_EACH_SCALAR(RUNG_METAL_SIMD_NAMES)
#undef RUNG_METAL_SIMD_NAMES
#undef RUNG_METAL_SIMD_NAME

#define RUNG_METAL_SIMD_MATRIX(T, C, R)   \
  using matrix_##T##C##x##R = T##C##x##R; \
  using simd_##T##C##x##R = T##C##x##R;   \
  namespace simd {                        \
  using ::T##C##x##R;                     \
  }
// clang-format off: it does not come to rest on macros that follow each other.
#define RUNG_METAL_SIMD_MATRICES(T) \
  RUNG_METAL_SIMD_MATRIX(T, 2, 2) RUNG_METAL_SIMD_MATRIX(T, 2, 3) RUNG_METAL_SIMD_MATRIX(T, 2, 4) \
  RUNG_METAL_SIMD_MATRIX(T, 3, 2) RUNG_METAL_SIMD_MATRIX(T, 3, 3) RUNG_METAL_SIMD_MATRIX(T, 3, 4) \
  RUNG_METAL_SIMD_MATRIX(T, 4, 2) RUNG_METAL_SIMD_MATRIX(T, 4, 3) RUNG_METAL_SIMD_MATRIX(T, 4, 4)
// clang-format on
RUNG_METAL_SIMD_MATRICES(float)
RUNG_METAL_SIMD_MATRICES(half)
#undef RUNG_METAL_SIMD_MATRICES
#undef RUNG_METAL_SIMD_MATRIX

// simd::fmin and the like: the functions of Metal's library.
namespace simd {
using namespace metal;
}

// Arguments of indirect dispatches and draws, which kernels may write.
struct MTLDispatchThreadgroupsIndirectArguments {
  uint threadgroupsPerGrid[3];
};
struct MTLStageInRegionIndirectArguments {
  uint stageInOrigin[3], stageInSize[3];
};
struct MTLDrawPrimitivesIndirectArguments {
  uint vertexCount, instanceCount, vertexStart, baseInstance;
};
struct MTLDrawIndexedPrimitivesIndirectArguments {
  uint indexCount, instanceCount, indexStart;
  int baseVertex;
  uint baseInstance;
};
struct MTLDrawPatchIndirectArguments {
  uint patchCount, instanceCount, patchStart, baseInstance;
};
struct MTLQuadTessellationFactorsHalf {
  half edgeTessellationFactor[4], insideTessellationFactor[2];
};
struct MTLTriangleTessellationFactorsHalf {
  half edgeTessellationFactor[3], insideTessellationFactor;
};

// Rays and intersections of MetalPerformanceShaders.h.
using MPSPackedFloat3 = packed_float3;
struct MPSRayOriginDirection {
  MPSPackedFloat3 origin, direction;
};
struct MPSRayOriginMinDistanceDirectionMaxDistance {
  MPSPackedFloat3 origin;
  float minDistance;
  MPSPackedFloat3 direction;
  float maxDistance;
};
struct MPSRayOriginMaskDirectionMaxDistance {
  MPSPackedFloat3 origin;
  uint mask;
  MPSPackedFloat3 direction;
  float maxDistance;
};
struct MPSIntersectionDistance {
  float distance;
};
struct MPSIntersectionDistancePrimitiveIndex {
  float distance;
  uint primitiveIndex;
};
struct MPSIntersectionDistancePrimitiveIndexCoordinates {
  float distance;
  uint primitiveIndex;
  float2 coordinates;
};
struct MPSIntersectionDistancePrimitiveIndexInstanceIndex {
  float distance;
  uint primitiveIndex, instanceIndex;
};
struct MPSIntersectionDistancePrimitiveIndexInstanceIndexCoordinates {
  float distance;
  uint primitiveIndex, instanceIndex;
  float2 coordinates;
};

namespace metal {
/// The vertices of a patch, which only functions of the graphics pipeline read.
template <class T>
struct patch_control_point {
  uint size() const;
  const T& operator[](uint i) const;
};
template <class T, class P = void>
struct interpolant {};

// The pixels of a tile in a render pass, which only tile functions read and write.
struct imageblock_layout_explicit {};
struct imageblock_layout_implicit {};
enum class imageblock_data_rate { color, sample };
template <class T, class L = imageblock_layout_implicit>
struct imageblock {
  ushort get_width() const;
  ushort get_height() const;
  ushort get_num_samples() const;
  ushort get_num_colors(ushort2) const;
  ushort get_color_coverage_mask(ushort2, ushort) const;
  threadgroup T* data(ushort2) const;
  threadgroup T* data(ushort2, ushort, imageblock_data_rate) const;
  template <class... A>
  T read(A...) const;
  template <class... A>
  void write(T, A...) const;
};
#define RUNG_METAL_PIXEL(name, bytes)          \
  template <class T>                           \
  struct alignas(bytes < 4 ? bytes : 4) name { \
    uchar stored[bytes];                       \
    name() = default;                          \
    name(T);                                   \
    operator T() const;                        \
  };
RUNG_METAL_PIXEL(r8unorm, 1)
RUNG_METAL_PIXEL(r8snorm, 1)
RUNG_METAL_PIXEL(r16unorm, 2)
RUNG_METAL_PIXEL(r16snorm, 2)
RUNG_METAL_PIXEL(rg8unorm, 2)
RUNG_METAL_PIXEL(rg8snorm, 2)
RUNG_METAL_PIXEL(rg16unorm, 4)
RUNG_METAL_PIXEL(rg16snorm, 4)
RUNG_METAL_PIXEL(rgba8unorm, 4)
RUNG_METAL_PIXEL(srgba8unorm, 4)
RUNG_METAL_PIXEL(rgba8snorm, 4)
RUNG_METAL_PIXEL(rgba16unorm, 8)
RUNG_METAL_PIXEL(rgba16snorm, 8)
RUNG_METAL_PIXEL(rgb10a2, 4)
RUNG_METAL_PIXEL(rg11b10f, 4)
RUNG_METAL_PIXEL(rgb9e5, 4)
#undef RUNG_METAL_PIXEL
template <class T>
T dfdx(T);
template <class T>
T dfdy(T);
template <class T>
T fwidth(T);
void discard_fragment();
}  // namespace metal
