// The language features that the Metal front end supports, one kernel each; see language_test.cpp.

#include <metal_stdlib>
using namespace metal;

static_assert(mem_flags::mem_device_and_threadgroup ==
                  (mem_flags::mem_device | mem_flags::mem_threadgroup),
              "a name of Metal 1");

// Positions of threads.

kernel void positions(
    device uint* out [[buffer(0)]], uint2 at [[thread_position_in_grid]],
    uint2 group [[threadgroup_position_in_grid]], ushort2 inside [[thread_position_in_threadgroup]],
    ushort index [[thread_index_in_threadgroup]], ushort2 threads [[threads_per_threadgroup]],
    uint2 groups [[threadgroups_per_grid]], uint2 all [[threads_per_grid]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]],
    ushort width [[threads_per_simdgroup]], ushort simdgroups [[simdgroups_per_threadgroup]]) {
  const bool grid =
      at.x == group.x * threads.x + inside.x && at.y == group.y * threads.y + inside.y;
  const bool extents = all.x == groups.x * threads.x && all.y == groups.y * threads.y;
  const bool numbers = index == inside.y * threads.x + inside.x &&
                       index == simdgroup * width + lane &&
                       simdgroups == (threads.x * threads.y + width - 1) / width;
  out[at.y * all.x + at.x] = grid && extents && numbers ? 1 : 0;
}

// Threadgroup memory, as a declaration and as an argument.

struct Scale {
  float by;
};

kernel void reversed(constant Scale& scale [[buffer(0)]], const device float* in [[buffer(1)]],
                     device float* out [[buffer(2)]], threadgroup float* other [[threadgroup(0)]],
                     uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  threadgroup float own[256];
  own[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float* p = &own[n - 1 - i];
  other[i] = *p * scale.by;
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  out[i] = other[i] + (i > 0 ? other[i - 1] : 0.0f);
}

// Two arguments; the launch may provide no memory for one of them.

kernel void swapped(const device float* in [[buffer(0)]], device float* out [[buffer(1)]],
                    threadgroup half* halves [[threadgroup(2)]],
                    threadgroup float* floats [[threadgroup(0)]],
                    uint i [[thread_index_in_threadgroup]]) {
  halves[i] = half(in[i]);
  floats[i] = in[i] + 0.5f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[2 * i] = floats[i];
  out[2 * i + 1] = float(halves[i]);
}

// A value passed to another thread through either memory, across a barrier with these flags.

template <mem_flags FLAGS>
kernel void by_threadgroup(device uint* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint values[64];
  values[i] = i;
  threadgroup_barrier(FLAGS);
  out[i] = values[63 - i];
}

template <mem_flags FLAGS>
kernel void by_device(device uint* values [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  values[i] = i;
  threadgroup_barrier(FLAGS);
  values[64 + i] = values[63 - i];
}

// The same exchange within a simdgroup.

template <mem_flags FLAGS>
kernel void in_simdgroup_by_threadgroup(device uint* out [[buffer(0)]],
                                        uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint values[64];
  values[i] = i;
  simdgroup_barrier(FLAGS);
  out[i] = values[i ^ 31];
}

template <mem_flags FLAGS>
kernel void in_simdgroup_by_device(device uint* values [[buffer(0)]],
                                   uint i [[thread_index_in_threadgroup]]) {
  values[i] = i;
  simdgroup_barrier(FLAGS);
  values[64 + i] = values[i ^ 31];
}

// Functions of a simdgroup: each thread writes ten consecutive results.

kernel void simd_functions(device int* out [[buffer(0)]], uint i [[thread_index_in_simdgroup]]) {
  const int value = int(i) + 1;
  device int* results = out + i * 10;
  results[0] = simd_sum(value);
  results[1] = simd_min(value);
  results[2] = simd_max(value);
  results[3] = simd_shuffle(value, ushort(31 - i));
  results[4] = simd_shuffle_xor(value, 3);
  results[5] = simd_shuffle_down(value, 1);
  results[6] = simd_shuffle_up(value, 1);
  results[7] = simd_broadcast(value, 7);
  results[8] = simd_all(value > 0) && simd_any(value == 5) && !simd_any(value == 50);
  results[9] = int(simd_sum(half(value))) + int(simd_broadcast_first(float(value)));
}

// Atomics, in device and in threadgroup memory.

kernel void atomics(device atomic_uint* count [[buffer(0)]], device atomic_float* sum [[buffer(1)]],
                    device _atomic<int>* extremes [[buffer(2)]],
                    uint i [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint mine;
  if (i == 0) atomic_store_explicit(&mine, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&mine, 2u, memory_order_relaxed);
  atomic_fetch_add_explicit(sum, 0.5f, memory_order_relaxed);
  atomic_fetch_min_explicit(&extremes[0], -int(i), memory_order_relaxed);
  atomic_fetch_max_explicit(&extremes[1], int(i), memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i != 0) return;
  const uint all = atomic_load_explicit(&mine, memory_order_relaxed);
  uint expected = 7;
  while (!atomic_compare_exchange_weak_explicit(count, &expected, expected + all,
                                                memory_order_relaxed, memory_order_relaxed)) {
  }
}

// D = A * B + C with half A and B and float D; loads A transposed, and B at an origin.

kernel void matrices(const device half* a [[buffer(0)]], const device half* b [[buffer(1)]],
                     device float* d [[buffer(2)]]) {
  threadgroup half tile[8][10];
  simdgroup_half8x8 A, B;
  simdgroup_float8x8 D(2.0f);  // 2 on the diagonal
  simdgroup_load(A, a, 8, ulong2(0), true);
  simdgroup_load(B, b, 12, ulong2(3, 1));
  simdgroup_store(B, &tile[0][0], 10);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(B, &tile[0][0], 10);
  simdgroup_multiply_accumulate(D, A, B, D);
  simdgroup_store(D, d);
}

// Vectors.

kernel void vectors(device float* out [[buffer(0)]]) {
  const float2 two = float2(1, 2);
  const float4 four = float4(two, 3, 4);
  const half4 halves = half4(four);
  uint3 counted = uint3(5);
  counted[1] = 6;
  out[0] = four.x + 10 * four.w;
  out[1] = dot(four, float4(1));
  out[2] = float(halves.z) + float(halves.yx.x);
  out[3] = float(counted.x + counted.y + counted.z);
  out[4] = as_type<float>(0x3F800000u) + clamp(7.0f, 0.0f, 2.0f) + fma(2.0f, 3.0f, 4.0f);
}

/// Rows of five elements, whose vectors are aligned to their elements alone.
kernel void rows_of_five(const device float* a [[buffer(0)]], const device half* b [[buffer(1)]],
                         device float* c [[buffer(2)]], device half* d [[buffer(3)]],
                         uint row [[thread_position_in_grid]]) {
  threadgroup float tile[160];
  const device float* from = a + 5 * row;
  *(threadgroup float4*)(tile + 5 * row) = *(const device float4*)from;
  tile[5 * row + 4] = from[4];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  *(device float4*)(c + 5 * row) = 2 * *(threadgroup float4*)(tile + 5 * row);
  c[5 * row + 4] = 2 * tile[5 * row + 4];
  *(device half2*)(d + 5 * row) = *(const device half2*)(b + 5 * row);
  *(device half2*)(d + 5 * row + 2) = *(const device half2*)(b + 5 * row + 2);
  d[5 * row + 4] = b[5 * row + 4];
}

/// A vector whose elements are not aligned.
kernel void between_elements(const device char* a [[buffer(0)]], device float4* c [[buffer(1)]]) {
  c[0] = *(const device float4*)(a + 2);
}

#define INSTANTIATE(name, function, flags) \
  template [[host_name(#name)]] [[kernel]] decltype(function<flags>) function<flags>;
#define EXCHANGE(name, flags)                                                   \
  INSTANTIATE(threadgroup_##name, by_threadgroup, flags)                        \
  INSTANTIATE(device_##name, by_device, flags)                                  \
  INSTANTIATE(simdgroup_threadgroup_##name, in_simdgroup_by_threadgroup, flags) \
  INSTANTIATE(simdgroup_device_##name, in_simdgroup_by_device, flags)
EXCHANGE(none, mem_flags::mem_none)
EXCHANGE(by_threadgroup, mem_flags::mem_threadgroup)
EXCHANGE(by_device, mem_flags::mem_device)
EXCHANGE(both, mem_flags::mem_threadgroup | mem_flags::mem_device)
