// All threads that find something say so in one flag; with WRONG, who found it wins.
__global__ void find(const int* data, int* flag) {
#ifdef WRONG
  if (data[threadIdx.x] > 0) *flag = threadIdx.x;
#else
  if (data[threadIdx.x] > 0) *flag = 1;
#endif
}

int main() {
  int *data, *flag;
  cudaMalloc(&data, 128 * sizeof(int));
  cudaMemset(data, 1, 128 * sizeof(int));
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  find<<<1, 128>>>(data, flag);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
}
