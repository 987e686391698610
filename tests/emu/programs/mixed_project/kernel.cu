__global__ void write(int* to) { *to = 42; }

int answer() {
  int* device = nullptr;
  int host = 0;
  cudaMalloc(&device, sizeof(int));
  write<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host;
}
