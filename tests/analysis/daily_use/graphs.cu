// Gathers, lists and graphs: addresses that were loaded.
#include "arrays.cuh"

__global__ void gather_random(const float* x, const int* index, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}

__global__ void chase_lists(const int* next, int* last, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
  for (int k = 0; k < steps; ++k) at = next[at];
  last[i] = at;
}

__global__ void bfs_level(const int* start, const int* target, const int* depth, int* next,
                          int level, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || depth[v] != level) return;
  for (int e = start[v]; e < start[v + 1]; ++e) {
    if (depth[target[e]] < 0) atomicMax(&next[target[e]], level + 1);
  }
}

__global__ void page_rank_pull(const int* start, const int* source, const float* share, float* rank,
                               int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (int e = start[v]; e < start[v + 1]; ++e) sum += share[source[e]];
  rank[v] = 0.15f / n + 0.85f * sum;
}

__global__ void embedding_bag(const float4* table, const int* index, float4* out, int bag) {
  int vectors = blockDim.x, t = threadIdx.x;
  float4 sum = {0, 0, 0, 0};
  for (int k = 0; k < bag; ++k) {
    float4 v = table[(size_t)index[blockIdx.x * bag + k] * vectors + t];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  out[blockIdx.x * vectors + t] = sum;
}

__global__ void triangles_by_merge(const int* start, const int* target, int* count, int edges,
                                   const int* from) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int a = start[from[e]], a_end = start[from[e] + 1], b = start[target[e]],
      b_end = start[target[e] + 1];
  int found = 0;
  while (a < a_end && b < b_end) {
    int x = target[a], y = target[b];
    found += x == y;
    a += x <= y, b += y <= x;
  }
  count[e] = found;
}

__global__ void hash_probe(const unsigned* table, const unsigned* key, int* found, int mask,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned k = key[i], at = mixed(k) & mask;
  while (table[at] != k && table[at] != 0) at = (at + 1) & mask;
  found[i] = table[at] == k;
}

int main() {
  const int n = 1 << 18, degree = 8;
  int* depth = filled<int>(n, [](unsigned i) { return i % 3 == 0 ? 0 : -1; });
  int* start = filled<int>(n + 1, [](unsigned i) { return i * degree + (i % 7 == 3 ? 4 : 0); });
  int* target =
      filled<int>(n * degree + 8, [=](unsigned e) { return (mixed(e / degree) + e * 977) % n; });
  int* from = filled<int>(n * degree, [=](unsigned e) { return e / degree; });
  gather_random<<<4 * n / 256, 256>>>(floats(16 * n), integers(4 * n, 16 * n), zeros<float>(4 * n),
                                      4 * n);
  chase_lists<<<132, 128>>>(integers(4 * n, 4 * n), zeros<int>(n), 32);
  bfs_level<<<n / 256, 256>>>(start, target, depth, zeros<int>(n), 0, n);
  page_rank_pull<<<n / 128, 128>>>(start, target, floats(n), zeros<float>(n), n);
  embedding_bag<<<4096, 32>>>((float4*)floats(16 * n), integers(4096 * 16, n / 8),
                              (float4*)zeros<float>(n * 2), 16);
  triangles_by_merge<<<n / 2 / 256, 256>>>(start, target, zeros<int>(n), n / 2, from);
  auto* table = filled<unsigned>(
      1 << 21, [](unsigned i) { return mixed(i + 7) % 2 ? mixed(i) % 1000000 + 1 : 0; });
  hash_probe<<<n / 256, 256>>>(table, (unsigned*)integers(n, 1000000), zeros<int>(n), (1 << 21) - 1,
                               n);
  return cudaDeviceSynchronize();
}
