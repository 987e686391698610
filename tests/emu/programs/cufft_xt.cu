// cuFFT's plans by data types: double precision, and half precision there and back.
#include <cuda_fp16.h>
#include <cufftXt.h>

#include <cmath>
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

  // Rows of 4 numbers, in place: each has room for 3 complex ones.
  constexpr int rows = 2, row = 4, room = 6;
  long long both[] = {rows, row};
  std::vector<__half> apart(rows * row), inside(rows * room);
  for (int i = 0; i < rows * row; ++i) {
    apart[i] = inside[i / row * room + i % row] = __float2half(float(i * i % 7));
  }
  __half *from = upload(apart), *in_place = upload(inside), *to = upload(inside);
  cufftHandle plane, plane_back;
  cufftCreate(&plane), cufftCreate(&plane_back);
  cufftXtMakePlanMany(plane, 2, both, nullptr, 1, 0, CUDA_R_16F, nullptr, 1, 0, CUDA_C_16F, 1,
                      &bytes, CUDA_C_16F);
  cufftXtMakePlanMany(plane_back, 2, both, nullptr, 1, 0, CUDA_C_16F, nullptr, 1, 0, CUDA_R_16F, 1,
                      &bytes, CUDA_C_16F);
  cufftXtExec(plane, from, to, CUFFT_FORWARD);
  cufftXtExec(plane, in_place, in_place, CUFFT_FORWARD);
  const auto expected = download(to, rows * room), found = download(in_place, rows * room);
  int wrong = 0;
  for (int i = 0; i < rows * room; ++i) {
    wrong += __half2float(expected[i]) != __half2float(found[i]);
  }
  cufftXtExec(plane_back, in_place, in_place, CUFFT_INVERSE);
  const auto returned = download(in_place, rows * room);
  for (int i = 0; i < rows * row; ++i) {
    const float value = __half2float(returned[i / row * room + i % row]) / (rows * row);
    wrong += std::abs(value - __half2float(apart[i])) > 0.01f;
  }
  printf("in place %d wrong\n", wrong);

  // Any plan, by its own types.
  cufftHandle by_type;
  cufftPlan1d(&by_type, 8, CUFFT_D2Z, 1);
  const int done = cufftXtExec(by_type, real, spectrum, CUFFT_FORWARD);
  cufftDestroy(by_type), cufftDestroy(plane);
  const auto size_of = [&](cufftHandle plan) {
    return cufftXtGetSizeMany(plan, 1, n, nullptr, 1, 0, CUDA_C_32F, nullptr, 1, 0, CUDA_C_32F, 1,
                              &bytes, CUDA_C_32F);
  };
  printf("%d %g, %d %d, %d %d %d\n", done, download(spectrum, 1)[0].x, size_of(doubles),
         size_of(by_type) == CUFFT_INVALID_PLAN,
         cufftXtExec(by_type, real, spectrum, CUFFT_FORWARD) == CUFFT_INVALID_PLAN,
         cufftXtExec(plane, from, to, CUFFT_FORWARD) == CUFFT_INVALID_PLAN,
         cufftXtExec(strided, from, to, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  cudaDeviceReset();
}
