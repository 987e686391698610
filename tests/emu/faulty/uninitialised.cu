// Reads memory that was never written.
__global__ void sum(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

int main() {
  float *in, *out;
  cudaMalloc(&in, 32 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  sum<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
