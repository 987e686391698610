// cuFFT's plans by data types: double precision, and half precision there and back.
#include <cuda_fp16.h>
#include <cufftXt.h>

#include <cstdio>
#include <vector>

template <class T>
T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}

int main() {
  long long n[] = {8};
  size_t bytes = 0;
  cufftHandle doubles;
  cufftCreate(&doubles);
  cufftXtMakePlanMany(doubles, 1, n, nullptr, 1, 8, CUDA_R_64F, nullptr, 1, 5, CUDA_C_64F, 1,
                      &bytes, CUDA_C_64F);
  double* real = upload(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  auto* spectrum = upload(std::vector<cufftDoubleComplex>(5));
  printf("%d", cufftXtExec(doubles, real, spectrum, CUFFT_FORWARD));
  const auto host = download(spectrum, 5);
  printf(" %g %.4f %.4f\n", host[0].x, host[1].x, host[1].y);

  constexpr int batch = 2;
  std::vector<__half> signal;
  for (int i = 0; i < 8 * batch; ++i) signal.push_back(__float2half(float(i % 5)));
  __half* halves = upload(signal);
  __half2* transformed = upload(std::vector<__half2>(5 * batch));
  cufftHandle forth, back;
  cufftCreate(&forth), cufftCreate(&back);
  long long complex_n[] = {5};
  cufftXtMakePlanMany(forth, 1, n, n, 1, 8, CUDA_R_16F, complex_n, 1, 5, CUDA_C_16F, batch, &bytes,
                      CUDA_C_16F);
  cufftXtMakePlanMany(back, 1, n, complex_n, 1, 5, CUDA_C_16F, n, 1, 8, CUDA_R_16F, batch, &bytes,
                      CUDA_C_16F);
  cufftXtExec(forth, halves, transformed, CUFFT_FORWARD);
  cufftXtExec(back, transformed, halves, CUFFT_INVERSE);
  const auto again = download(halves, signal.size());
  int far = 0;
  for (size_t i = 0; i < signal.size(); ++i) {
    const float error = __half2float(again[i]) / 8 - __half2float(signal[i]);
    far += error > 0.01f || error < -0.01f;
  }
  cufftHandle strided;
  cufftCreate(&strided);
  printf("%d far, %d\n", far,
         cufftXtMakePlanMany(strided, 1, n, n, 2, 16, CUDA_C_16F, n, 2, 16, CUDA_C_16F, 1, &bytes,
                             CUDA_C_16F) == CUFFT_NOT_SUPPORTED);
  cudaDeviceReset();
}
