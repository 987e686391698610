// The sum begins with whatever the register holds.
__global__ void sum(const float* in, float* out, int n) {
  float total;
  for (int i = 0; i < n; ++i) {
    total += in[i * blockDim.x + threadIdx.x];
  }
  out[threadIdx.x] = total;
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 128 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(in, 0, 128 * sizeof(float));
  sum<<<1, 32>>>(in, out, 4);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
