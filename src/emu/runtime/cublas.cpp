// gemm and dot of cuBLAS, computed on the CPU by rung::gemm() and rung::dot(). The driver copies
// operands from device memory and results back, so an operand that ends beyond its allocation is an
// error, and results count as initialised.

#include "cublas_v2.h"

#include <exception>
#include <new>
#include <vector>

#include "rung/rung.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
};

namespace {

// An error after which a call cannot continue.
struct Failure {
  cublasStatus_t status;
};

void check(cudaError_t error) {
  if (error != cudaSuccess) throw Failure{CUBLAS_STATUS_EXECUTION_FAILED};
}

template <class T>
std::vector<T> download(const T* from, std::size_t count, cudaStream_t stream) {
  std::vector<T> host(count);
  check(cudaMemcpyAsync(host.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return host;
}

template <class T>
void upload(T* to, const std::vector<T>& host, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
}

// alpha, beta and results are in the memory that the pointer mode selects.
template <class T>
T read_scalar(const cublasContext& context, const T* scalar) {
  if (scalar == nullptr) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  if (context.pointer_mode == CUBLAS_POINTER_MODE_HOST) return *scalar;
  return download(scalar, 1, context.stream).front();
}

template <class T>
void write_scalar(const cublasContext& context, T* to, T value) {
  if (context.pointer_mode == CUBLAS_POINTER_MODE_HOST) {
    *to = value;
  } else {
    upload(to, std::vector<T>{value}, context.stream);
  }
}

bool is_transposed(cublasOperation_t op) { return op != CUBLAS_OP_N; }

// The elements that a column-major matrix of rows x cols spans.
std::size_t span(int rows, int cols, int ld) {
  if (rows == 0 || cols == 0) return 0;
  return static_cast<std::size_t>(cols - 1) * static_cast<std::size_t>(ld) +
         static_cast<std::size_t>(rows);
}

// An operand, as stored and as multiplied.
struct Shape {
  int rows, cols, ld;
  bool transposed;
};

Shape shape(cublasOperation_t op, int rows, int cols, int ld) {
  if (rows < 0 || cols < 0) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  const bool transposed = is_transposed(op);
  const Shape stored = transposed ? Shape{cols, rows, ld, true} : Shape{rows, cols, ld, false};
  if (ld < 1 || ld < stored.rows) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  return stored;
}

template <class T>
rung::MatrixView<const T> view(const std::vector<T>& data, const Shape& shape) {
  const rung::MatrixView<const T> stored =
      rung::col_major(data.data(), shape.rows, shape.cols, shape.ld);
  return shape.transposed ? rung::transposed(stored) : stored;
}

template <class In, class Out>
void gemm(const cublasContext& context, cublasOperation_t op_a, cublasOperation_t op_b, int m,
          int n, int k, const Out* alpha, const In* a, int lda, const In* b, int ldb,
          const Out* beta, Out* c, int ldc) {
  const Shape shape_a = shape(op_a, m, k, lda);
  const Shape shape_b = shape(op_b, k, n, ldb);
  const Shape shape_c = shape(CUBLAS_OP_N, m, n, ldc);
  if (m == 0 || n == 0) return;
  const auto download_matrix = [&](const auto* from, const Shape& stored) {
    return download(from, span(stored.rows, stored.cols, stored.ld), context.stream);
  };
  const std::vector<In> host_a = download_matrix(a, shape_a);
  const std::vector<In> host_b = download_matrix(b, shape_b);
  std::vector<Out> host_c = download_matrix(c, shape_c);
  rung::gemm(read_scalar(context, alpha), view(host_a, shape_a), view(host_b, shape_b),
             read_scalar(context, beta), rung::col_major(host_c.data(), m, n, ldc));
  upload(c, host_c, context.stream);
}

template <class T>
void dot(const cublasContext& context, int n, const T* x, int incx, const T* y, int incy,
         T* result) {
  const auto download_vector = [&](const T* from, int increment) {
    const std::size_t step = static_cast<std::size_t>(increment < 0 ? -increment : increment);
    return download(from, n <= 0 ? 0 : (static_cast<std::size_t>(n) - 1) * step + 1,
                    context.stream);
  };
  const std::vector<T> host_x = download_vector(x, incx);
  const std::vector<T> host_y = download_vector(y, incy);
  const T sum = n <= 0 ? T{} : rung::dot(n, host_x.data(), incx, host_y.data(), incy);
  if (result == nullptr) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  write_scalar(context, result, sum);
}

// Functions for C return a status.
template <class Call>
cublasStatus_t guarded(const cublasContext* context, Call&& call) {
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  try {
    call();
    return CUBLAS_STATUS_SUCCESS;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  } catch (const std::exception&) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cublasContext;
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return guarded(handle, [&] { handle->stream = stream; });
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return guarded(handle, [&] { handle->pointer_mode = mode; });
}

// Everything is computed in the precision of its type, so there is no choice.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t /*mode*/) {
  return guarded(handle, [] {});
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
#define RUNG_EMU_STATUS(name) \
  case name: return #name;
    RUNG_EMU_STATUS(CUBLAS_STATUS_SUCCESS)
    RUNG_EMU_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_INVALID_VALUE)
    RUNG_EMU_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
    RUNG_EMU_STATUS(CUBLAS_STATUS_MAPPING_ERROR)
    RUNG_EMU_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
    RUNG_EMU_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
    RUNG_EMU_STATUS(CUBLAS_STATUS_LICENSE_ERROR)
#undef RUNG_EMU_STATUS
  }
  return "<unknown>";
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                              int m, int n, int k, const float* alpha, const float* a, int lda,
                              const float* b, int ldb, const float* beta, float* c, int ldc) {
  return guarded(handle,
                 [&] { gemm(*handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                              int m, int n, int k, const double* alpha, const double* a, int lda,
                              const double* b, int ldb, const double* beta, double* c, int ldc) {
  return guarded(handle,
                 [&] { gemm(*handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t /*compute_type*/, cublasGemmAlgo_t /*algorithm*/) {
  return guarded(handle, [&] {
    const auto run = [&]<class In, class Out>(In, Out) {
      gemm(*handle, op_a, op_b, m, n, k, static_cast<const Out*>(alpha), static_cast<const In*>(a),
           lda, static_cast<const In*>(b), ldb, static_cast<const Out*>(beta), static_cast<Out*>(c),
           ldc);
    };
    if (a_type != b_type) throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
    if (a_type == CUDA_R_64F && c_type == CUDA_R_64F) return run(double{}, double{});
    if (c_type != CUDA_R_32F) throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
    if (a_type == CUDA_R_32F) return run(float{}, float{});
    if (a_type == CUDA_R_16F) return run(rung::float16{}, float{});
    if (a_type == CUDA_R_16BF) return run(rung::bfloat16{}, float{});
    throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  });
}

cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float* x, int incx, const float* y,
                             int incy, float* result) {
  return guarded(handle, [&] { dot(*handle, n, x, incx, y, incy, result); });
}

cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int n, const double* x, int incx,
                             const double* y, int incy, double* result) {
  return guarded(handle, [&] { dot(*handle, n, x, incx, y, incy, result); });
}

}  // extern "C"
