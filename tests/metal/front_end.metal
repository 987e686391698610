// Kernels of many signatures, see front_end_test.cpp: each uses a part of the language that clang lacks.

#include <simd/simd.h>
#include <metal/metal_math>
#include <metal_stdlib>
using namespace metal;
#include "front_end.h"

struct Point {
  float x, y;
  Point twice() const { return Point{2 * x, 2 * y}; }
  float sum() const thread { return x + y; }
  float sum() const device { return x + y; }
};

kernel void structures(uint i [[thread_position_in_grid]], const device Point* in [[buffer(0)]],
                       device Point* out [[buffer(1)]]) {
  Point zero = {0, 0};
  Point p = i > 2 ? zero : in[i];
  out[i] = p.twice();
  out[i].y = in[i].sum() + p.sum();
}

kernel void by_number(device float* a [[buffer(1)]], constant float& scale [[buffer(0)]],
                      constant float* table [[buffer(2)]],
                      uint thread_position_in_grid [[thread_position_in_grid]]) {
  a[thread_position_in_grid] = scale * table[thread_position_in_grid];
}

struct Settings {
  int n;
  packed_float3 offset;
  float4 weights[2];
  float4x4 m;
};
static_assert(sizeof(packed_float3) == 12 && sizeof(Settings) == 112, "as on Apple's GPUs");

kernel void settings(constant Settings& s [[buffer(0)]], device float4* out [[buffer(1)]]) {
  float3 offset = s.offset;
  out[0] = s.m * float4(offset, 1.0) + s.weights[1] * float(s.n);
}

METAL_FUNC float largest() { return FLT_MAX; }

kernel void mathematics(device float* out [[buffer(0)]]) {
  const float x = out[0];
  out[0] = exp(x) + rsqrt(4.0 * x) + pow(x, 3.0f) + precise::log(x) + fast::sin(0.0f);
  out[1] = select(1.0f, 2.0f, isnan(x)) + length(float2(3, 4)) + float(popcount(255u));
  out[2] = float(1.5h) + largest() * 0 + (M_PI_F - 3.14159274f);
  metal::float4 v = metal::float4(1, 2, 3, 4);
  float4 w(v.xy, 5, 6);
  out[3] = dot(v + w, float4(1)) + (float)(half)0.5f;
  bool4 m = v > w;
  bool4 n = m | (v == w);
  out[4] = any(m) ? 1 : all(float4(1) > float4(0)) ? 2 : 3;
  out[5] = dot(float4(v == w), float4(1, 10, 100, 1000)) + (n.x ? 0.5f : 0.0f);
  out[6] = float(numeric_limits<half>::max()) + float(clz(1u)) + float(mulhi(1u << 31, 4u));
  out[7] = unpack_unorm4x8_to_float(pack_float_to_unorm4x8(float4(0, 1, 0.2, 0))).z;
}

template <typename V>
V pair(float a, float b) {
  return V(a, b);
}
kernel void in_template(device float2* a [[buffer(0)]]) { a[0] = pair<float2>(1, 2); }

template <typename T>
kernel void twice(device T* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  a[i] += a[i];
}
template [[host_name("twice_half")]] kernel void twice<half>(device half*, uint);
template [[host_name("twice_float")]] [[kernel]] decltype(twice<float>) twice<float>;

constant int chosen [[function_constant(0)]];
constant bool has_chosen = is_function_constant_defined(chosen);
kernel void with_constant(device int* a [[buffer(0)]]) { a[0] = has_chosen ? 3 + chosen : -1; }

kernel void from_header(device float* a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  reverse<32>(a, i);
}

kernel void initialised(device float* a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup float t[32] = {0};
  t[i] = a[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  a[i] = t[31 - i];
}

kernel void bfloats(device bfloat* a [[buffer(0)]]) {
  half h = static_cast<half>(a[0]);
  a[1] = bfloat(exp(float(a[0])));
  a[2] = bfloat(h) + static_cast<bfloat>(max(float(a[0]), 0.0f));
}

kernel void copied(texture2d<float, access::read> in [[texture(0)]],
                   texture2d<float, access::write> out [[texture(1)]],
                   uint2 i [[thread_position_in_grid]]) {
  if (i.x < in.get_width() && i.y < in.get_height()) out.write(in.read(i) + 1.0f, i);
}

kernel void packed_operators(device packed_char4* bytes [[buffer(0)]],
                             device packed_uint2* words [[buffer(1)]],
                             device packed_float3* numbers [[buffer(2)]]) {
  const packed_char4 mask = 15;
  packed_char4 high = (bytes[0] >> 4) & mask;
  bytes[0] = (bytes[0] & mask) - high;
  words[0] ^= packed_uint2(1, 2);
  words[0] = ~words[0] | (words[0] << 3u);
  words[0] %= 1000u;
  if (all(numbers[0] == packed_float3(1, 2, 3)) && !any(numbers[0] < 0.5f)) numbers[0] += 0.5f;
}

static float area(float2 corner, const float2 size, float scale = 1) {
  return scale * (size.x - corner.x) * (size.y - corner.y);
}
struct Both {
  float first, second;
};
static float second_of(Both both) { return both.second; }
kernel void lists(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const float at = float(i);
  out[i] = area({at, 1}, {10, 5}) + second_of({at, at});
}

// Tile functions belong to render passes, and are no kernels of this file.
struct Pixel {
  rgba8unorm<half4> color [[raster_order_group(0)]];
};
static void clear(imageblock<Pixel, imageblock_layout_explicit> tile, ushort2 at) {
  threadgroup_imageblock Pixel* pixel = tile.data(at);
  pixel->color = half4(0);
}
kernel void clear_tile(imageblock<Pixel, imageblock_layout_explicit> tile,
                       ushort2 at [[thread_position_in_threadgroup]]) {
  clear(tile, at);
}

// Functions of a simdgroup.

kernel void partial(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  const float sum = simd_sum(float(i)), largest = simd_max(float(i));
  out[i] = sum + simd_prefix_exclusive_sum(1.0f) + 1000 * largest;
}

kernel void in_branch(device int* a [[buffer(0)]], uint i [[thread_index_in_simdgroup]]) {
  int s = a[i];
  if (i >= 1) s += simd_shuffle_up(s, 1);
  if (i >= 2) s += simd_shuffle_up(s, 2);
  a[i] = s;
}

kernel void absent(device int* a [[buffer(0)]], uint i [[thread_index_in_simdgroup]]) {
  a[i] = simd_shuffle_down(int(i), 16);
}

kernel void together(device uint* out [[buffer(0)]], uint i [[thread_index_in_simdgroup]]) {
  const ulong odd = (simd_vote::vote_t)simd_ballot((i & 1) != 0);
  out[i] = uint(odd) + simd_shuffle_and_fill_up(i, 100u, ushort(2)) + quad_sum(1u) +
           simd_product(i == 5 ? 3u : 1u);
}

kernel void fragments(const device float* in [[buffer(0)]], device float* out [[buffer(1)]],
                      ushort lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in);
  const short q = lane / 4, row = (q & 4) + (lane / 2) % 4, col = (q & 2) * 2 + (lane % 2) * 2;
  out[8 * row + col] = m.thread_elements()[0];
  out[8 * row + col + 1] = m.thread_elements()[1];
}

kernel void atomics(device atomic_uint* u [[buffer(0)]], device atomic_float* f [[buffer(1)]],
                    device atomic_bool* b [[buffer(2)]]) {
  atomic_fetch_or_explicit(u, 3u, memory_order_relaxed);
  const float x = atomic_exchange_explicit(f, 2.0f, memory_order_relaxed);
  atomic_store_explicit(b, x > 0, memory_order_relaxed);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
}

// A race, and accesses to different components, which do not race.

kernel void components(device float4* p [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  float sum = 0;
  for (uint j = 0; j < 64; ++j) sum += p[j].w;
  p[i].x = sum;
  p[i].yz = float2(sum + 1, sum + 2);
}

kernel void unordered(device float* a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup float v[64];
  v[i] = a[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float other = v[i ^ 32];
  v[i] = a[i] + other;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  a[i] = v[63 - i];
}

// dispatchThreads.

kernel void partial_group(device uint* a [[buffer(0)]], uint2 i [[thread_position_in_grid]],
                          uint2 all [[threads_per_grid]], uint2 here [[threads_per_threadgroup]],
                          uint2 asked [[dispatch_threads_per_threadgroup]],
                          uint index [[thread_index_in_threadgroup]]) {
  a[i.y * all.x + i.x] = 1000 * here.x + 100 * here.y + 10 * asked.x + index;
}

// Functions of the graphics pipeline in a file with kernels.
struct Corner {
  float4 position [[position]];
};
vertex Corner corner(uint i [[vertex_id]], const device float4* at [[buffer(0)]]) {
  return {at[i]};
}
fragment float4 color(Corner in [[stage_in]]) {
  if (in.position.x < 0) discard_fragment();
  return in.position + dfdx(in.position);
}
template <class T>
[[fragment]] float4 shaded(T in [[stage_in]]) {
  return in.position;
}

// Classes with constructors in threadgroup memory, where these do not run.
struct Running {
  float most = -INFINITY, sum = 0;
};
struct Complex {
  float re, im;
  Complex() : re(0), im(0) {}
  Complex(float r, float i) : re(r), im(i) {}
  // Methods for two address spaces may have either order.
  float norm() const { return re * re + im * im; }
  float norm() const threadgroup { return re * re + im * im; }
  float both() const threadgroup { return re + im; }
  float both() const { return re + im; }
};

template <class T>
kernel void constructed(device float* out [[buffer(0)]],
                        uint i [[thread_position_in_threadgroup]]) {
  threadgroup Running best[4];
  threadgroup T numbers[2][4];
  threadgroup T single;
  best[i].most = float(i);
  numbers[i % 2][i] = T(float(i), 1);
  if (i == 3) single = T(5, 6);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint next = (i + 1) % 4;
  out[i] = best[next].most + numbers[next % 2][next].norm() + single.both();
}
// The template's arguments follow from the parameters.
template <class T>
kernel void incremented(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  out[i] = in[i] + T(1);
}
template [[host_name("constructed")]] kernel void constructed<Complex>(device float* out, uint i);
template [[host_name("incremented_float")]] [[kernel]] void incremented(const device float*,
                                                                        device float* out, uint i);

// A kernel whose attributes come first, whose optional buffer depends on a function constant, and
// whose position is a variable of the file.
uint3 place [[thread_position_in_grid]];

template <int N>
static float last(threadgroup float rows[][N], threadgroup float[2][N], uint i) {
  return rows[i][N - 1];
}
static int first_letter(const constant char* text) { return text[0]; }

#define ROUNDS 3
[[host_name("gathered")]]
kernel void gathered_(device float* out [[buffer(0)]], device atomic_float* sum [[buffer(1)]],
                      const device float* bias [[buffer(2), function_constant(has_chosen)]]) {
  threadgroup float rows[4][2], others[2][2];
  rows[place.x][0] = 0;
  rows[place.x][1] = float(place.x);
  if (place.x == 0) others[0][0] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float total = 0;
#pragma unroll(ROUNDS)
  for (int k = 0; k < ROUNDS; ++k) total += last<2>(rows, others, (place.x + uint(k)) % 4);
  if (has_chosen) total += bias[place.x];
  if (place.x == 1) atomic_store_explicit(sum, total, memory_order_relaxed);
  const float2x2 halved = float2x2(total) / 2;
  constexpr simd_float2 offsets[2] = {simd_float2(1, 2), simd_float2(3)};
  out[place.x] = halved[1][1] + float(first_letter("A")) + offsets[1].y;
}

// Overloads for address spaces that return references, as SPIRV-Cross writes them; a namespace and an
// alias with names of the front end; constant memory with values in braces.
template <class T, size_t N>
struct Elements {
  T all[N];
  thread T& operator[](size_t i) thread { return all[i]; }
  constexpr const thread T& operator[](size_t i) const thread { return all[i]; }
  device T& operator[](size_t i) device { return all[i]; }
  constexpr const device T& operator[](size_t i) const device { return all[i]; }
  constexpr const constant T& operator[](size_t i) const constant { return all[i]; }
};
namespace detail {
class Field {
 public:
  Field() = default;
  constexpr Field(float v) : value(v) {}
  float get() const { return value; }

 private:
  float value;
};
}  // namespace detail
template <typename Field>
static float of(Field f) {
  return f.get();
}
typedef half4 color4;
typedef half eight_halves __attribute__((ext_vector_type(8)));
typedef float eight_floats __attribute__((ext_vector_type(8)));
constant float4x4 table = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
constant float3x3 scaled = float3x3(2);
constant half2x2 halves = half2x2(float2x2(1, 2, 3, 4));
constant float4 joined = float4(float2(1, 2), 3, 4);

kernel void elements(device Elements<float, 4>& out [[buffer(0)]],
                     constant Elements<float, 4>& in [[buffer(1)]],
                     const device half* eight [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  Elements<float, 4> mine;
  mine[i] = in[i] + table[i][1] + scaled[1][1] + float(halves[1][0]) + joined.y;
  const eight_floats wide = eight_floats(*(const device eight_halves*)eight);
  const color4 color = color4(1.0h, 2.0h, 3.0h, half(wide[7]));
  out[i] = mine[i] + of(detail::Field(10)) + float(color.w);
}

// Comparisons as vectors of bool: passed, returned and assigned.
static float4 pick(float4 a, float4 b, bool4 second) { return select(a, b, second); }
static bool3 less(float3 a, float3 b) { return a < b; }
template <class T>
static bool2 same(vec<T, 2> a, vec<T, 2> b) {
  return a == b;
}
kernel void truths(device float4* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const float4 v = a[i];
  bool4 big;
  big = v > 2;
  const bool3 rises = less(v.xyz, v.yzw);
  a[i] = pick(v, float4(0), v < 3) + float4(rises.x ? 10 : 0) + (same(v.xy, v.yy).y ? 100 : 0) +
         (big.z && !big.y ? 1000 : 0);
}

// Names of Apple's library that programs specialize, and constructors of a template's own type.
template <typename T>
struct Indexed {
  uint i;
  T value;
  constexpr Indexed<T>() = default;
  constexpr Indexed<T>() threadgroup = default;
};
template <typename T>
struct _numeric_limits_impl<Indexed<T>> {
  static constexpr T lowest() {
    return numeric_limits<T>::lowest() + T(vec_elements<float3>::value);
  }
};
kernel void specialized(device int* out [[buffer(0)]]) {
  threadgroup Indexed<int> shared[2];
  shared[1].value = numeric_limits<Indexed<int>>::lowest();
  out[0] = __is_valid_simdgroup_type<half>::value ? shared[1].value : 0;
}

// Names that the library leaves to programs, and parts of packed vectors.
static void swap(thread float& a, thread float& b) {
  const float c = a;
  a = b;
  b = c;
}
constant bool forward = true;
kernel void parts(device packed_float4* p [[buffer(0)]]) {
  float first = p[0].yzw.x, last = p[0].zw.y;
  if (forward) swap(first, last);
  const float least = 0.0f;
  const half4 mixed = mix(half4(0), half4(4), 0.25f) + clamp(half4(2), least, 1.0f);
  p[0].yz = float2(first, last);
  p[0].x += float(max(mixed, least).w);
}
struct Cuboid {
  packed_float3 at;
  packed_half2 size;
};
struct Slab {
  float2 xz;  // no part of a vector
  float x;
};
template <class P>
static float3 turned(P p) {
  p.xy *= 2.0f;
  return p.zxy;
}
kernel void permuted_parts(device Cuboid* c [[buffer(0)]], constant packed_uint4& n [[buffer(1)]],
                           device uint4* out [[buffer(2)]]) {
  c[0].at.xyz += 0.5f;
  c[1].at.zyx = c[0].at.xyz;
  c[1].at.xz -= float2(c[0].size.yx);
  (c + 2)->at.rgb = turned(c[0].at);
  c[2].size.yx = c[0].size;
  const Slab slab = {float2(0.25f, 0.5f), 9};
  c[2].at.zyx.xz = float2(7, 8);
  c[2].at.rgb.gb.x += simd::fmin(slab.xz.y, slab.x);
  const auto sum = n.wzyx + n.xxyy;
  out[0] = uint4(n.wz, sum.xw);
}

kernel void matrix_lists(device float* out [[buffer(0)]]) {
  const float s = out[0];
  const float2x3 m = {{{s, 2, 3}, {4, 5, s * 6}}};
  out[1] = m[0].y + m[1].z;
}
