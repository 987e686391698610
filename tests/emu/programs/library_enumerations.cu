// Values that the enumerations of CUDA's libraries lack are refused.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <cstdio>

int main() {
  float *a, one = 1;
  int* info;
  cudaMalloc(&a, 64);
  cudaMalloc(&info, sizeof(int));
  cudaMemset(a, 0, 64);
  int accepted = 0;
  const auto refused = [&](const char* call, int status) {
    if (status == 0) printf("%s is accepted\n", call), ++accepted;
  };

  cufftHandle plan;
  refused("cufftPlan1d", cufftPlan1d(&plan, 8, (cufftType)0x2b, 1));
  refused("cufftPlan2d", cufftPlan2d(&plan, 8, 8, (cufftType)0));
  refused("cufftPlan3d", cufftPlan3d(&plan, 2, 2, 2, (cufftType)99));
  int size = 8;
  refused("cufftPlanMany",
          cufftPlanMany(&plan, 1, &size, nullptr, 1, 0, nullptr, 1, 0, (cufftType)0x49, 1));

  cublasHandle_t blas;
  cublasCreate(&blas);
  const auto op = CUBLAS_OP_N, no_op = (cublasOperation_t)9;
  const auto upper = CUBLAS_FILL_MODE_UPPER, no_part = (cublasFillMode_t)5;
  const auto left = CUBLAS_SIDE_LEFT, no_side = (cublasSideMode_t)2;
  const auto unit = CUBLAS_DIAG_UNIT, no_diagonal = (cublasDiagType_t)2;
  refused("Sgemm", cublasSgemm(blas, no_op, op, 2, 2, 2, &one, a, 2, a, 2, &one, a, 2));
  refused("SgemmStridedBatched", cublasSgemmStridedBatched(blas, op, op, 2, 2, 2, &one, a, 2, 4, a,
                                                           2, 4, &one, a, 2, 4, -1));
  refused("Sgemv", cublasSgemv(blas, no_op, 2, 2, &one, a, 2, a, 1, &one, a, 1));
  refused("Ssymm", cublasSsymm(blas, no_side, upper, 2, 2, &one, a, 2, a, 2, &one, a, 2));
  refused("Ssyrk", cublasSsyrk(blas, no_part, op, 2, 2, &one, a, 2, &one, a, 2));
  refused("Strsm", cublasStrsm(blas, left, upper, op, no_diagonal, 2, 2, &one, a, 2, a, 2));
  refused("Strmv", cublasStrmv(blas, upper, no_op, unit, 2, a, 2, a, 1));
  refused("GemmEx",
          cublasGemmEx(blas, op, op, 2, 2, 2, &one, a, (cudaDataType)77, 2, a, (cudaDataType)77, 2,
                       &one, a, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  refused("GemmEx",
          cublasGemmEx(blas, op, op, 2, 2, 2, &one, a, CUDA_R_32F, 2, a, CUDA_R_32F, 2, &one, a,
                       CUDA_R_32F, 2, (cublasComputeType_t)3, CUBLAS_GEMM_DEFAULT));
  refused("cublasSetPointerMode", cublasSetPointerMode(blas, (cublasPointerMode_t)2));
  cublasDestroy(blas);

  cublasLtMatrixLayout_t layout;
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 2);
  refused("cublasLtMatrixLayoutSetAttribute",
          cublasLtMatrixLayoutSetAttribute(layout, (cublasLtMatrixLayoutAttribute_t)99, &size, 4));
  cublasLtMatrixLayoutDestroy(layout);

  curandGenerator_t generator;
  refused("curandCreateGenerator", curandCreateGenerator(&generator, (curandRngType_t)77));
  refused("curandCreateGenerator", curandCreateGenerator(&generator, CURAND_RNG_TEST));

  cusparseHandle_t sparse;
  cusparseCreate(&sparse);
  cusparseSpMatDescr_t matrix;
  cusparseDnMatDescr_t dense;
  const auto index = CUSPARSE_INDEX_32I;
  refused("cusparseCreateCsr", cusparseCreateCsr(&matrix, 2, 2, 1, a, a, a, index, index,
                                                 (cusparseIndexBase_t)2, CUDA_R_32F));
  refused("cusparseCreateCsr", cusparseCreateCsr(&matrix, 2, 2, 1, a, a, a, (cusparseIndexType_t)9,
                                                 index, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  refused("cusparseCreateDnMat",
          cusparseCreateDnMat(&dense, 2, 2, 2, a, CUDA_R_32F, (cusparseOrder_t)3));
  refused("cusparseSetPointerMode", cusparseSetPointerMode(sparse, (cusparsePointerMode_t)7));
  cusparseDestroy(sparse);

  cusolverDnHandle_t solver;
  cusolverDnCreate(&solver);
  refused("Spotrf", cusolverDnSpotrf(solver, no_part, 2, a, 2, a, 1, info));
  refused("Ssyevd", cusolverDnSsyevd(solver, (cusolverEigMode_t)3, upper, 2, a, 2, a, a, 1, info));
  cusolverDnDestroy(solver);

  printf("%d accepted\n", accepted);
  cudaFree(a);
  cudaFree(info);
}
