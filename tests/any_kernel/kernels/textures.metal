#include <metal_stdlib>
using namespace metal;

kernel void mirrored(texture2d<float, access::read> in [[texture(0)]],
                     texture2d<float, access::write> out [[texture(1)]],
                     uint2 at [[thread_position_in_grid]]) {
  out.write(in.read(uint2(in.get_width() - 1 - at.x, at.y)), at);
}

kernel void sampled(texture2d<half> in [[texture(0)]], sampler s [[sampler(0)]],
                    device float* out [[buffer(0)]], constant float2* at [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  out[i] = in.sample(s, at[i]).x;
}

kernel void slices(texture3d<uint, access::read> volume [[texture(0)]],
                   texture1d_array<int, access::write> sums [[texture(1)]],
                   uint2 at [[thread_position_in_grid]]) {
  int sum = 0;
  for (uint z = 0; z < volume.get_depth(); ++z) sum += volume.read(uint3(at, z)).x;
  sums.write(int4(sum, sums.get_array_size(), 0, 1), at.x, at.y);
}

// The value of a cube's faces is their number.
kernel void faces(texturecube<float> cube [[texture(0)]], device float* out [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  constexpr sampler nearest(filter::nearest);
  float3 direction = 0.1f;
  direction[i / 2] = i % 2 == 0 ? 1 : -1;
  out[i] = cube.sample(nearest, direction).x;
}

kernel void counted(texture2d<uint, access::read_write> counts [[texture(0)]],
                    uint i [[thread_position_in_grid]]) {
  counts.atomic_fetch_add(uint2(1, 0), 1u);
  counts.atomic_fetch_max(uint2(0, 0), i);
}

kernel void gathered(texture2d_array<float> in [[texture(0)]], device float4* out [[buffer(0)]],
                     uint i [[thread_position_in_grid]]) {
  constexpr sampler pixels(coord::pixel);
  out[i] = in.gather(pixels, float2(1, 1), i, int2(0), component::w);
  const auto sparse = in.sparse_sample(pixels, float2(0.5f, 0.5f), i);
  if (sparse.resident()) out[i].w += 100 * sparse.value().y;
}
