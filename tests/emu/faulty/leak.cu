// One of two allocations is freed.
int main() {
  float *freed, *kept;
  cudaMalloc(&freed, 100);
  cudaMalloc(&kept, 4096);
  cudaFree(freed);
}
