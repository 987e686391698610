// Products, conversions and triangular systems of a small matrix:
//   1 0 2 0
//   0 3 0 0
//   4 0 5 6
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
  for (const T value : host) printf("%g ", double(value));
  printf("\n");
}

int main() {
  int* offsets = upload<int>({0, 2, 3, 6});
  int* columns = upload<int>({0, 2, 1, 0, 2, 3});
  float* values = upload<float>({1, 2, 3, 4, 5, 6});
  float* x = upload<float>({1, 2, 3, 4});
  float* y = upload<float>({10, 20, 30});
  const float one = 1, two = 2, zero = 0;
  size_t bytes = 0;

  cusparseHandle_t handle;
  cusparseCreate(&handle);
  cusparseSpMatDescr_t a;
  cusparseCreateCsr(&a, 3, 4, 6, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseDnVecDescr_t dx, dy;
  cusparseCreateDnVec(&dx, 4, x, CUDA_R_32F);
  cusparseCreateDnVec(&dy, 3, y, CUDA_R_32F);
  const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE, across = CUSPARSE_OPERATION_TRANSPOSE;
  cusparseSpMV_bufferSize(handle, plain, &two, a, dx, &one, dy, CUDA_R_32F,
                          CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
  cusparseSpMV(handle, plain, &two, a, dx, &one, dy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
               nullptr);
  print(y, 3);  // 10 + 2 * 7, 20 + 2 * 6, 30 + 2 * 43
  cusparseSpMV(handle, across, &one, a, dy, &zero, dx, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
               nullptr);
  print(x, 4);

  float* b = upload<float>({1, 0, 0, 0, 0, 1, 1, 1});  // two columns of four
  float* c = upload<float>({0, 0, 0, 0, 0, 0});
  cusparseDnMatDescr_t db, dc;
  cusparseCreateDnMat(&db, 4, 2, 4, b, CUDA_R_32F, CUSPARSE_ORDER_COL);
  cusparseCreateDnMat(&dc, 3, 2, 2, c, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  cusparseSpMM(handle, plain, plain, &one, a, db, &zero, dc, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT,
               nullptr);
  print(c, 6);

  // A times its transpose.
  int* product_offsets = upload(std::vector<int>(4));
  cusparseSpMatDescr_t product;
  cusparseSpGEMMDescr_t work;
  cusparseSpMatDescr_t transposed;
  cusparseCreateCsc(&transposed, 4, 3, 6, offsets, columns, values, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateCsr(&product, 3, 3, 0, product_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseSpGEMM_createDescr(&work);
  cusparseSpGEMM_compute(handle, plain, plain, &one, a, transposed, &zero, product, CUDA_R_32F,
                         CUSPARSE_SPGEMM_DEFAULT, work, &bytes, nullptr);
  int64_t rows = 0, cols = 0, nnz = 0;
  cusparseSpMatGetSize(product, &rows, &cols, &nnz);
  int* product_columns = upload(std::vector<int>(nnz));
  float* product_values = upload(std::vector<float>(nnz));
  cusparseCsrSetPointers(product, product_offsets, product_columns, product_values);
  cusparseSpGEMM_copy(handle, plain, plain, &one, a, transposed, &zero, product, CUDA_R_32F,
                      CUSPARSE_SPGEMM_DEFAULT, work);
  print(product_offsets, 4);
  print(product_columns, int(nnz));
  print(product_values, int(nnz));

  // The lower triangle of that product.
  float* right = upload<float>({5, 18, 91});
  float* solution = upload<float>({0, 0, 0});
  cusparseDnVecDescr_t dright, dsolution;
  cusparseCreateDnVec(&dright, 3, right, CUDA_R_32F);
  cusparseCreateDnVec(&dsolution, 3, solution, CUDA_R_32F);
  cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
  cusparseSpMatSetAttribute(product, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof(lower));
  cusparseSpSVDescr_t solver;
  cusparseSpSV_createDescr(&solver);
  cusparseSpSV_solve(handle, plain, &one, product, dright, dsolution, CUDA_R_32F,
                     CUSPARSE_SPSV_ALG_DEFAULT, solver);
  print(solution, 3);  // 5 x0 = 5, 9 x1 = 18, 14 x0 + 77 x2 = 91
  printf("%s %s\n",
         cusparseGetErrorName(cusparseSpMV(handle, across, &one, a, dx, &zero, dy, CUDA_R_32F,
                                           CUSPARSE_SPMV_ALG_DEFAULT, nullptr)),
         cusparseGetErrorString(cusparseSpMV(nullptr, plain, &one, a, dx, &zero, dy, CUDA_R_32F,
                                             CUSPARSE_SPMV_ALG_DEFAULT, nullptr)));
  printf("%s %s\n", cusparseGetErrorName(cusparseGetVersion(handle, nullptr)),
         cusparseGetErrorName(cusparseSpMatGetValues(a, nullptr)));
  cusparseSpSV_destroyDescr(solver);
  cusparseSpGEMM_destroyDescr(work);
  for (auto* matrix : {a, transposed, product}) cusparseDestroySpMat(matrix);
  for (auto* vector : {dx, dy, dright, dsolution}) cusparseDestroyDnVec(vector);
  for (auto* matrix : {db, dc}) cusparseDestroyDnMat(matrix);
  cusparseDestroy(handle);
  for (void* pointer : std::vector<void*>{offsets, columns, values, x, y, b, c, product_offsets,
                                          product_columns, product_values, right, solution}) {
    cudaFree(pointer);
  }
}
