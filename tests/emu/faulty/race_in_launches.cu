// A template's kernel races in each of its launches, and leaks.
namespace sums {
template <class T, int N>
__global__ void reverse(T* data) {
  __shared__ T buffer[N];
  buffer[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = buffer[N - 1 - threadIdx.x];
}
}  // namespace sums

int main() {
  for (int i = 0; i < 3; ++i) {
    float* data;
    cudaMalloc(&data, 64 * sizeof(float));
    cudaMemset(data, 0, 64 * sizeof(float));
    sums::reverse<float, 64><<<1, 64>>>(data);
    cudaDeviceSynchronize();
  }
  return 5;
}
