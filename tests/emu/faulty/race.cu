// A barrier is missing between the store and the load of another thread's element.
__global__ void reverse(int* data) {
  __shared__ int buffer[64];
  buffer[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = buffer[63 - threadIdx.x];
}

int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
