// Eigenvalues and singular values: A v = lambda v, A = U S V^H.
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstdio>

template <class T>
T* on_device(const T* from, int count) {
  T* device;
  cudaMalloc(&device, count * sizeof(T));
  if (from != nullptr) cudaMemcpy(device, from, count * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
void to_host(T* to, const T* from, int count) {
  cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost);
}

int main() {
  cusolverDnHandle_t solver;
  cusolverDnCreate(&solver);
  int size = 0, *info = on_device<int>(nullptr, 1);

  // [[2, i], [-i, 2]] has 1 and 3; the upper part is not read.
  const cuDoubleComplex hermitian[] = {{2, 0}, {0, -1}, {9, 9}, {2, 0}};
  cuDoubleComplex *a = on_device(hermitian, 4), vectors[4];
  double *w = on_device<double>(nullptr, 2), values[2];
  cusolverDnZheevd_bufferSize(solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, a, 2, w,
                              &size);
  auto* work = on_device<cuDoubleComplex>(nullptr, size);
  cusolverDnZheevd(solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, a, 2, w, work, size,
                   info);
  to_host(values, w, 2);
  to_host(vectors, a, 4);
  // (2 - 3) x + i y = 0 for the second.
  const cuDoubleComplex x = vectors[2], y = vectors[3];
  std::printf("%.6f %.6f %.6f\n", values[0], values[1],
              cuCabs(cuCadd(make_cuDoubleComplex(-x.x, -x.y), make_cuDoubleComplex(-y.y, y.x))));

  // 2 x 3 of rank 1: all of U and V^T are orthogonal.
  const float flat[] = {1, 2, 2, 4, 2, 4};
  float *b = on_device(flat, 6), *s = on_device<float>(nullptr, 2);
  float *u = on_device<float>(nullptr, 4), *vt = on_device<float>(nullptr, 9);
  cusolverDnSgesvd_bufferSize(solver, 2, 3, &size);
  auto* buffer = on_device<float>(nullptr, size);
  const cusolverStatus_t status =
      cusolverDnSgesvd(solver, 'A', 'A', 2, 3, b, 2, s, u, 2, vt, 3, buffer, size, nullptr, info);
  float singular[2], left[4], right[9];
  to_host(singular, s, 2);
  to_host(left, u, 4);
  to_host(right, vt, 9);
  float wrong = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      const float product =
          left[i] * singular[0] * right[3 * j] + left[2 + i] * singular[1] * right[3 * j + 1];
      wrong = fmaxf(wrong, fabsf(product - flat[2 * j + i]));
    }
  }
  float across = 0;
  for (int j = 0; j < 3; ++j) across += right[3 * j] * right[3 * j + 2];
  std::printf("%d %.4f %.4f %d %d\n", status, singular[0], singular[1], wrong < 1e-5f,
              fabsf(across) < 1e-6f);
  const double symmetric[] = {4, 1, 1, 4, 2, 0, 0, 7};
  double *many = on_device(symmetric, 8), *found = on_device<double>(nullptr, 4), each[4];
  syevjInfo_t how;
  cusolverDnCreateSyevjInfo(&how);
  cusolverDnDsyevjBatched(solver, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_UPPER, 2, many, 2,
                          found, many, 1, on_device<int>(nullptr, 2), how, 2);
  to_host(each, found, 4);
  std::printf("%g %g %g %g\n", each[0], each[1], each[2], each[3]);
  cusolverDnDestroySyevjInfo(how);
  cusolverDnDestroy(solver);
}
