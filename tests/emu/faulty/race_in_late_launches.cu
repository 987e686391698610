// Many launches of one kernel: numbers 100 and 102 race, the others do not.
__global__ void add_one(int* sum, bool race) {
  if (threadIdx.x == 0 || race) *sum += threadIdx.x + 1;
}

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  for (int i = 1; i <= 300; ++i) add_one<<<1, 64>>>(sum, i == 100 || i == 102);
  cudaDeviceSynchronize();
  int host = 0;
  cudaMemcpy(&host, sum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(sum);
  return host >= 298 ? 0 : 1;
}
