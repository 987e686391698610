// More kernels like those of diseases.cu, written without knowledge of the rules of `rung explain`:
// 26 with one disease each on an H200 (132 SMs), and 10 healthy kernels.

#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#include "at_first_sight/execution.cuh"
#include "at_first_sight/healthy.cuh"
#include "at_first_sight/memory.cuh"

// Scales the number of blocks and the size of the data.
#ifndef SCALE
#define SCALE 1
#endif
constexpr int factor = SCALE;

static unsigned g_state = 12345u;
static unsigned next_random() {
  g_state = g_state * 1664525u + 1013904223u;
  return g_state >> 8;
}

static float* random_floats(size_t n) {
  float* h = (float*)malloc(n * sizeof(float));
  for (size_t i = 0; i < n; ++i) h[i] = (float)next_random() * (1.0f / 16777216.0f);
  float* d = nullptr;
  cudaMalloc((void**)&d, n * sizeof(float));
  cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
  free(h);
  return d;
}

static int* device_ints(const int* h, size_t n) {
  int* d = nullptr;
  cudaMalloc((void**)&d, n * sizeof(int));
  cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
  return d;
}

static void* zeroed(size_t bytes) {
  void* d = nullptr;
  cudaMalloc(&d, bytes);
  cudaMemset(d, 0, bytes);
  return d;
}

int main() {
  const size_t NP = ((size_t)1 << 22) * factor;  // 4M floats
  float* A = random_floats(NP + 64);
  float* B = random_floats(NP + 64);
  float* P = random_floats(NP);  // particles, updated in place
  float* Q = random_floats(NP);  // particles, updated in place
  float* O = (float*)zeroed(NP * sizeof(float));
  int* OI = (int*)zeroed(((size_t)1 << 20) * factor * sizeof(int));
  float* Y = (float*)zeroed((size_t)135168 * factor * sizeof(float));
  float* total = (float*)zeroed(256);

  int* h = (int*)malloc(sizeof(int) * NP);

  // gather order of the records: every second record, in scrambled order
  const int nrec = 256000 * factor;
  for (int i = 0; i < nrec; ++i) h[i] = 2 * (int)(((long long)i * 7919 + 13) % nrec);
  int* rec_idx = device_ints(h, nrec);

  // materials
  for (int i = 0; i < 135168 * factor; ++i) h[i] = (int)(next_random() >> 5) & 3;
  int* material = device_ints(h, 135168 * factor);

  // segments
  h[0] = 0;
  for (int i = 0; i < 528 * factor; ++i) h[i + 1] = h[i] + (i % 66 == 33 ? 32768 : 512);
  int* seg_start = device_ints(h, 528 * factor + 1);

  // ray-march steps per warp
  for (int b = 0; b < 264 * factor; ++b)
    for (int w = 0; w < 8; ++w) h[b * 8 + w] = (w == b % 8) ? 512 : 32;
  int* steps = device_ints(h, 264 * 8 * factor);

  // linked lists: 67584 lists of 32 nodes, warps hop between chunks of 32 nodes
  const int lists = 67584 * factor, length = 32, chunks = lists / 32;
  for (int s = 0; s < length; ++s)
    for (int p = 0; p < lists; ++p) {
      int chunk = (int)(((long long)(p / 32) * 5 + 7 * s + 1) % chunks);
      int ns = s + 1 < length ? s + 1 : 0;
      h[s * lists + p] = ns * lists + chunk * 32 + p % 32;
    }
  int* next = device_ints(h, (size_t)lists * length);

  // keys
  for (int i = 0; i < 67584 * 24 * factor; ++i) h[i] = (int)(next_random() >> 3);
  int* keys = device_ints(h, (size_t)67584 * 24 * factor);

  // dark image
  for (int i = 0; i < 67584 * 8 * factor; ++i)
    h[i] = (i % 97 == 0) ? (int)(next_random() >> 4) & 63 : 0;
  int* dark = device_ints(h, (size_t)67584 * 8 * factor);

  // embedding ids
  for (int i = 0; i < 32768 * factor; ++i) h[i] = (int)(next_random() >> 4) & 32767;
  int* ids = device_ints(h, 32768 * factor);
  free(h);

  // byte image
  const int npix = 1600 * 1200 * factor;
  unsigned char* hb = (unsigned char*)malloc(npix);
  for (int i = 0; i < npix; ++i) hb[i] = (unsigned char)(next_random() >> 7);
  unsigned char *img = nullptr, *img_out = (unsigned char*)zeroed(npix);
  cudaMalloc((void**)&img, npix);
  cudaMemcpy(img, hb, npix, cudaMemcpyHostToDevice);
  free(hb);

  Taps33 taps;
  for (int k = 0; k < 33; ++k) taps.w[k] = 1.0f / (float)(k + 2);
  Strides6 st;
  st.s[0] = 1;
  st.s[1] = 4;
  st.s[2] = 32;
  st.s[3] = 256;
  st.s[4] = 2048;
  st.s[5] = 16384;

  // ---- diseased
  matvec__uncoalesced_accesses<<<264 * factor, 256>>>(A, B, O, 67584 * factor, 48);
  particle_aos__uncoalesced_accesses<<<1024 * factor, 256>>>((Particle*)P, 0.01f, 262144 * factor);
  record_gather__misaligned_accesses<<<1000 * factor, 256>>>(A, rec_idx, (float4*)O,
                                                             128000 * factor);
  threshold__narrow_accesses<<<7500 * factor, 256>>>(img, img_out, 127, npix);
  gemm_naive__repeated_loads<<<dim3(24, 22 * factor), dim3(16, 16)>>>(A, B, O, 352 * factor, 384,
                                                                      32);
  fir33__repeated_loads<<<528 * factor, 256>>>(A, O, taps);
  weighted_planes__repeated_stores<<<528 * factor, 256>>>(Y, A, B, 135168 * factor, 16);
  transpose_tile__bank_conflicts<<<dim3(32, 32 * factor), dim3(32, 8)>>>(O, A, 1024, 1024 * factor);
  correlation64__shared_loads<<<528 * factor, 256>>>(A, B, O);
  shade__divergence<<<528 * factor, 256>>>(material, A, O);
  cell_series__partial_warps<<<4224 * factor, 8>>>(A, O);
  softmax128__work_of_single_threads<<<528 * factor, 128>>>(A, O);
  dot_product__too_few_blocks<<<12 * factor, 256>>>((const float4*)A, (const float4*)B, O,
                                                    12 * 256 * 64 * factor);
  quadratic_map__last_wave<<<132 * factor + 8, 1024>>>(O, -0.7f);
  segment_sum__uneven_blocks<<<528 * factor, 256>>>(A, seg_start, O);
  ray_march__uneven_warps<<<264 * factor, 256>>>(steps, A, O);
  reverse_tiles__low_occupancy<<<8192 * factor, 64>>>((const float4*)A, (float4*)O);
  linked_lists__exposed_latency<<<264 * factor, 256>>>(next, A, O, 32);
  row_scan__barriers<<<264 * factor, 256>>>(A, O);
  digit_counts__local_memory<<<264 * factor, 256>>>(keys, OI, 67584 * factor);
  logistic_growth__double_precision_by_accident<<<528 * factor, 256>>>(Q, 16);
  continued_fraction__divisions<<<528 * factor, 256>>>(A, O, 16);
  monte_carlo_pi__divisions<<<264 * factor, 256>>>(OI, 65521u, 1.0f / 65521.0f, 8);
  tensor_view_sum__addresses<<<264 * factor, 256>>>(A, O, st);
  kinetic_energy__atomics_at_one_address<<<528 * factor, 256>>>(A, B, total, 135168 * factor);
  dark_histogram__atomics_at_one_shared_address<<<264 * factor, 256>>>(dark, OI, 67584 * factor);

  // ---- healthy
  triad__healthy<<<4096 * factor, 256>>>((const float4*)A, (const float4*)B, (float4*)O, 1.5f);
  image_negative__healthy<<<4096 * factor, 256>>>((const uint4*)A, (uint4*)O);
  transpose_padded__healthy<<<dim3(32, 64 * factor), dim3(32, 8)>>>(O, A, 1024, 2048 * factor);
  julia_real__healthy<<<528 * factor, 256>>>((float4*)O, -0.7f, 1.0e-6f);
  nbody_cluster__healthy<<<528 * factor, 256>>>((const float4*)A, (const float4*)B, (float4*)O);
  softmax_rows__healthy<<<512 * factor, 256>>>((const float4*)A, (float4*)O);
  stencil5__healthy<<<dim3(8, 256 * factor), dim3(32, 8)>>>(A, O, 1024, 2048 * factor);
  block_reduce__healthy<<<528 * factor, 256>>>((const float4*)A, O);
  embedding_lookup__healthy<<<1024 * factor, 256>>>((const float4*)A, (const int4*)ids, (float4*)O);
  const auto part = [&](int i) { return (float4*)(Q + i * 524288 * factor); };
  particle_soa__healthy<<<512 * factor, 256>>>(part(0), part(1), part(2), part(3), part(4), part(5),
                                               0.01f, 0.999f);

  cudaError_t err = cudaDeviceSynchronize();
  if (err == cudaSuccess) err = cudaGetLastError();
  printf("%s\n", cudaGetErrorString(err));
  return err == cudaSuccess ? 0 : 1;
}
