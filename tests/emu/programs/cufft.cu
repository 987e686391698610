// Transforms and back, against the definition.
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <cufft.h>

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
  constexpr int n = 12, batch = 2;
  std::vector<cufftComplex> signal(n * batch);
  for (int i = 0; i < n * batch; ++i) signal[i] = {float(i * i % 7), float(i % 3)};
  cufftComplex* data = upload(signal);
  cufftHandle plan;
  printf("%d\n", cufftPlan1d(&plan, n, CUFFT_C2C, batch));
  cufftExecC2C(plan, data, data, CUFFT_FORWARD);
  const auto spectrum = download(data, signal.size());
  double worst = 0;
  for (int b = 0; b < batch; ++b) {
    for (int k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (int i = 0; i < n; ++i) {
        sum += std::complex<double>(signal[b * n + i].x, signal[b * n + i].y) *
               std::polar(1.0, -2 * M_PI * i * k / n);
      }
      const auto got = spectrum[b * n + k];
      worst = std::fmax(worst, std::abs(sum - std::complex<double>(got.x, got.y)));
    }
  }
  cufftExecC2C(plan, data, data, CUFFT_INVERSE);
  const auto back = download(data, signal.size());
  for (int i = 0; i < n * batch; ++i)
    worst = std::fmax(worst, std::fabs(back[i].x / n - signal[i].x));
  cufftDestroy(plan);

  // Real numbers of two dimensions: the first element is their sum, and the way back is times 20.
  std::vector<double> image(20);
  for (int i = 0; i < 20; ++i) image[i] = i * i % 11;
  double* real = upload(image);
  auto* half = upload(std::vector<cufftDoubleComplex>(4 * 3));
  cufftHandle forth, inverse;
  cufftPlan2d(&forth, 4, 5, CUFFT_D2Z);
  cufftPlan2d(&inverse, 4, 5, CUFFT_Z2D);
  cufftExecD2Z(forth, real, half);
  const double sum = download(half, 1)[0].x;
  cufftExecZ2D(inverse, half, real);
  const auto again = download(real, 20);
  for (int i = 0; i < 20; ++i) worst = std::fmax(worst, std::fabs(again[i] / 20 - image[i]));

  // Every second element of rows of 16.
  int size = 8, embed = 8;
  cufftHandle strided;
  std::vector<cufftComplex> ones(32, {0, 0});
  for (int i = 0; i < 32; i += 2) ones[i] = {1, 0};
  cufftComplex* sparse = upload(ones);
  cufftPlanMany(&strided, 1, &size, &embed, 2, 16, &embed, 2, 16, CUFFT_C2C, 2);
  cufftExecC2C(strided, sparse, sparse, CUFFT_FORWARD);
  const auto impulse = download(sparse, 32);
  printf("%s, sum %g, impulses %g %g %g %g\n", worst < 1e-5 ? "close" : "wrong", sum, impulse[0].x,
         impulse[2].x, impulse[1].x, impulse[16].x);
  printf("%d %d\n", cufftExecC2C(forth, data, data, CUFFT_FORWARD), cufftDestroy(12345));
  cufftDestroy(forth);
  cufftDestroy(inverse);
  cufftDestroy(strided);
  cudaFree(data);
  cudaFree(real);
  cudaFree(half);
  cudaFree(sparse);
}
