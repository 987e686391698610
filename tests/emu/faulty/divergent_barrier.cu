// Half of the warp does not come to the barrier.
__global__ void half_way(int* data) {
  if (threadIdx.x < 16) {
    data[threadIdx.x] = 1;
    __syncthreads();
  }
  data[threadIdx.x] += 1;
}

int main() {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  half_way<<<1, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
