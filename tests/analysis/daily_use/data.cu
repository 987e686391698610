// Data: tables, sorts, histograms, graphs, sparse matrices.
#include "arrays.cuh"

__global__ void hash_insert(unsigned* slot, int* value, const unsigned* key, int mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned k = key[i], at = mixed(k) & mask;
  while (true) {
    unsigned old = atomicCAS(&slot[at], 0u, k);
    if (old == 0 || old == k) {
      value[at] = i;
      return;
    }
    at = (at + 1) & mask;
  }
}

__global__ void radix_scatter(const unsigned* in, unsigned* out, const int* offset, int shift) {
  __shared__ int count[8][16];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t < 128) count[t / 16][t % 16] = 0;
  __syncthreads();
  unsigned x = in[blockIdx.x * 256 + t], digit = x >> shift & 15, peers = 0xffffffff;
  for (int b = 0; b < 4; ++b) {
    bool bit = digit >> b & 1;
    unsigned votes = __ballot_sync(0xffffffff, bit);
    peers &= bit ? votes : ~votes;
  }
  int rank = __popc(peers & ((1u << lane) - 1));
  if (rank == 0) count[warp][digit] = __popc(peers);
  __syncthreads();
  for (int w = 0; w < warp; ++w) rank += count[w][digit];
  out[offset[digit * gridDim.x + blockIdx.x] + rank] = x;
}

__global__ void histogram_of_colours(const uchar4* pixel, unsigned* bins, int n) {
  __shared__ unsigned s[3 * 256];
  for (int i = threadIdx.x; i < 768; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uchar4 p = pixel[i];
    atomicAdd(&s[p.x], 1u);
    atomicAdd(&s[256 + p.y], 1u);
    atomicAdd(&s[512 + p.z], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 768; i += blockDim.x) atomicAdd(&bins[i], s[i]);
}

__global__ void spmv_csr_8_lanes(const int* start, const int* column, const double* value,
                                 const double* x, double* y, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 8, lane = t % 8;
  if (row >= rows) return;
  double sum = 0;
  for (int e = start[row] + lane; e < start[row + 1]; e += 8) sum += value[e] * x[column[e]];
  sum += __shfl_xor_sync(0xffffffff, sum, 4);
  sum += __shfl_xor_sync(0xffffffff, sum, 2);
  sum += __shfl_xor_sync(0xffffffff, sum, 1);
  if (lane == 0) y[row] = sum;
}

__global__ void bfs_frontier(const int* start, const int* target, const int* frontier, int size,
                             int* depth, int* next, int* next_size, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  int v = frontier[i];
  for (int e = start[v]; e < start[v + 1]; ++e) {
    int u = target[e];
    if (depth[u] < 0 && atomicCAS(&depth[u], -1, level) == -1) next[atomicAdd(next_size, 1)] = u;
  }
}

int main() {
  const int n = 1 << 20;
  unsigned* keys = filled<unsigned>(n, [](unsigned i) { return mixed(i) | 1; });
  hash_insert<<<n / 4 / 256, 256>>>(zeros<unsigned>(n / 2), zeros<int>(n / 2), keys, n / 2 - 1,
                                    n / 4);
  int blocks = n / 256;
  std::vector<int> first_of(16 * blocks, 0);
  for (int i = 0; i < n; ++i) ++first_of[((mixed(i) | 1) >> 4 & 15) * blocks + i / 256];
  int before = 0;
  for (int& one : first_of) before += one, one = before - one;
  int* offset = filled<int>(16 * blocks, [&](unsigned i) { return first_of[i]; });
  radix_scatter<<<blocks, 256>>>(keys, zeros<unsigned>(n), offset, 4);
  histogram_of_colours<<<264, 256>>>((uchar4*)keys, zeros<unsigned>(768), n);
  const int rows = 1 << 16;
  int* start = filled<int>(rows + 1, [](unsigned r) { return r * 20 + mixed(r) % 12; });
  int* column = filled<int>(rows * 20 + 64,
                            [](unsigned e) { return (e / 20 + mixed(e) % 4096 + 61440) % 65536; });
  auto* value = filled<double>(rows * 20 + 64, [](unsigned i) { return mixed(i) * 0x1p-32; });
  spmv_csr_8_lanes<<<rows * 8 / 256, 256>>>(start, column, value, value, zeros<double>(rows), rows);
  int* edges = filled<int>(n + 64, [](unsigned e) { return mixed(e) % 131072; });
  int* first = filled<int>(131073, [](unsigned v) { return v * 8; });
  int* frontier = filled<int>(32768, [](unsigned i) { return i * 4; });
  int* depth = filled<int>(131072, [](unsigned v) { return v % 4 == 0 ? 0 : -1; });
  bfs_frontier<<<32768 / 256, 256>>>(first, edges, frontier, 32768, depth, zeros<int>(131072),
                                     zeros<int>(1), 1);
  return cudaDeviceSynchronize();
}
