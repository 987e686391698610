// The calls of cuSPARSE by types: conversions and sorts of COO, CSR and CSC, a sum, and tridiagonal
// systems.
#include <cstdio>
#include <vector>

#include <cusparse.h>

template <class T>
T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
void print(const T* device, int count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  for (const T value : host) printf("%.3g ", double(value));
  printf("\n");
}

int main() {
  cusparseHandle_t handle;
  cusparseCreate(&handle);
  constexpr int rows = 3, cols = 4, nnz = 5;
  //   0 1 0 2
  //   3 0 0 0
  //   0 4 5 0, its entries in no order
  int* row = upload<int>({2, 0, 1, 2, 0});
  int* col = upload<int>({2, 3, 0, 1, 1});
  int* order = upload<int>(std::vector<int>(nnz));
  size_t bytes = 0;
  cusparseCreateIdentityPermutation(handle, nnz, order);
  cusparseXcoosort_bufferSizeExt(handle, rows, cols, nnz, row, col, &bytes);
  cusparseXcoosortByRow(handle, rows, cols, nnz, row, col, order, nullptr);
  print(row, nnz), print(col, nnz), print(order, nnz);

  int* offsets = upload<int>(std::vector<int>(rows + 1));
  cusparseXcoo2csr(handle, row, nnz, rows, offsets, CUSPARSE_INDEX_BASE_ZERO);
  print(offsets, rows + 1);
  cusparseXcsr2coo(handle, offsets, nnz, rows, order, CUSPARSE_INDEX_BASE_ZERO);
  print(order, nnz);

  float* values = upload<float>({1, 2, 3, 4, 5});
  float* across = upload<float>(std::vector<float>(nnz));
  int* col_offsets = upload<int>(std::vector<int>(cols + 1));
  int* rows_across = upload<int>(std::vector<int>(nnz));
  cusparseCsr2cscEx2(handle, rows, cols, nnz, values, offsets, col, across, col_offsets,
                     rows_across, CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                     CUSPARSE_CSR2CSC_ALG1, nullptr);
  print(col_offsets, cols + 1), print(rows_across, nnz), print(across, nnz);

  // 2 A + 10 B. A has an entry at one of B's two positions, and no entry at the other.
  cusparseMatDescr_t matrix;
  cusparseCreateMatDescr(&matrix);
  int* b_offsets = upload<int>({0, 0, 2, 2});
  int* b_columns = upload<int>({0, 2});
  float* b_values = upload<float>({1, 1});
  int* c_offsets = upload<int>(std::vector<int>(rows + 1));
  int count = 0;
  cusparseXcsrgeam2Nnz(handle, rows, cols, matrix, nnz, offsets, col, matrix, 2, b_offsets,
                       b_columns, matrix, c_offsets, &count, nullptr);
  int* c_columns = upload<int>(std::vector<int>(count));
  float* c_values = upload<float>(std::vector<float>(count));
  const float two = 2, ten = 10;
  cusparseScsrgeam2(handle, rows, cols, &two, matrix, nnz, values, offsets, col, &ten, matrix, 2,
                    b_values, b_offsets, b_columns, matrix, c_values, c_offsets, c_columns,
                    nullptr);
  print(c_offsets, rows + 1), print(c_columns, count), print(c_values, count);

  // The second system has a zero on its diagonal, which needs a pivot.
  double* lower = upload<double>({0, 1, 1, 0, 1, 1});
  double* diagonal = upload<double>({2, 2, 2, 0, 3, 1});
  double* upper = upload<double>({1, 1, 0, 2, 1, 0});
  double* x = upload<double>({4, 8, 8, 4, 10, 5});  // of 1 2 3
  cusparseDgtsv2StridedBatch(handle, 3, lower, diagonal, upper, x, 2, 3, nullptr);
  print(x, 6);

  cusparseSpMatDescr_t sparse;
  cusparseCreateCsr(&sparse, rows, cols, nnz, offsets, col, values, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  int64_t r, c, n;
  void *p, *q, *v;
  cusparseIndexType_t i, j;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseCsrGet(sparse, &r, &c, &n, &p, &q, &v, &i, &j, &base, &type);
  const auto refused = cusparseCooGet(sparse, &r, &c, &n, &p, &q, &v, &i, &base, &type);
  printf("%d %d %d, %d %d\n", int(r), int(c), int(n), v == values,
         refused == CUSPARSE_STATUS_INVALID_VALUE);
  // Invalid arguments, and empty problems.
  const auto zero_based = CUSPARSE_INDEX_BASE_ZERO, one_based = CUSPARSE_INDEX_BASE_ONE;
  printf("%d %d %d %d, ", cusparseXcoo2csr(handle, row, nnz, rows, offsets, one_based),
         cusparseXcoo2csr(handle, row, -1, rows, offsets, zero_based),
         cusparseXcsrsort(handle, rows, cols, nnz - 1, matrix, offsets, col, nullptr, nullptr),
         cusparseCsr2cscEx2(handle, rows, cols, nnz - 1, values, offsets, col, across, col_offsets,
                            rows_across, CUDA_R_32F, CUSPARSE_ACTION_SYMBOLIC, zero_based,
                            CUSPARSE_CSR2CSC_ALG1, nullptr));
  printf("%d %d, ", cusparseXcsr2coo(handle, offsets, nnz - 1, rows, order, zero_based),
         cusparseXcsrgeam2Nnz(handle, rows, cols, matrix, nnz - 1, offsets, col, matrix, 2,
                              b_offsets, b_columns, matrix, c_offsets, &count, nullptr));
  printf("%d %d %d, ", cusparseDgtsv2(handle, 3, -1, lower, diagonal, upper, x, 3, nullptr),
         cusparseDgtsv2(handle, 3, 1, lower, diagonal, upper, x, 2, nullptr),
         cusparseDgtsv2StridedBatch(handle, 3, lower, diagonal, upper, x, 2, 2, nullptr));
  printf("%d, ", cusparseXcoosortByRow(nullptr, rows, cols, nnz, row, col, order, nullptr));
  printf("%d %d %d %d\n", cusparseDgtsv2(handle, 3, 0, lower, diagonal, upper, x, 5, nullptr),
         cusparseXcsrgeam2Nnz(handle, rows, cols, matrix, nnz, offsets, col, matrix, 2, b_offsets,
                              b_columns, matrix, c_offsets, nullptr, nullptr),
         cusparseXcoosortByRow(handle, rows, cols, 0, nullptr, nullptr, nullptr, nullptr),
         cusparseXcoo2csr(handle, nullptr, 0, rows, b_offsets, zero_based));
  print(c_offsets, rows + 1), print(b_offsets, rows + 1);
  cusparseDestroySpMat(sparse);
  cusparseDestroyMatDescr(matrix);
  cusparseDestroy(handle);
  cudaDeviceReset();
}
