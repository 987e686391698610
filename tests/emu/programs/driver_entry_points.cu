// The driver's calls by their names.

#include <cudaTypedefs.h>

#include <cstdio>

int main() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPoint("cuDriverGetVersion", &found, cudaEnableDefault, &result);
  int version = 0;
  reinterpret_cast<PFN_cuDriverGetVersion_v2020>(found)(&version);
  void *none = nullptr, *newest = nullptr;
  const cudaError_t error = cudaGetDriverEntryPoint("cuNothing", &none, cudaEnableDefault, &result);
  cuGetProcAddress("cuMemAlloc", &newest, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
  // A call that the library does not make itself.
  PFN_cuTensorMapEncodeIm2col_v12000 im2col = nullptr;
  cudaDriverEntryPointQueryResult of_im2col;
  cudaGetDriverEntryPoint("cuTensorMapEncodeIm2col", reinterpret_cast<void**>(&im2col),
                          cudaEnableDefault, &of_im2col);
  if (im2col == nullptr || of_im2col != cudaDriverEntryPointSuccess) return 1;
  printf("%d %d %d %d %d\n", version > 12000, error, result, none == nullptr,
         newest == reinterpret_cast<void*>(&cuMemAlloc));
}
