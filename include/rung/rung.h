#ifndef RUNG_RUNG_H
#define RUNG_RUNG_H
/* The C interface. Functions behave as documented in gemm.hpp, dot.hpp and cuda.hpp, and return
 * status codes instead of throwing exceptions. */

#include <stddef.h>
#include <stdint.h>

#define RUNG_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rung_status {
  RUNG_OK = 0,
  RUNG_INVALID_ARGUMENT = 1,
  RUNG_OUT_OF_MEMORY = 2,
  RUNG_INTERNAL_ERROR = 3,
  RUNG_UNAVAILABLE = 4, /* no GPU, no driver, or no kernel for it */
  RUNG_DEVICE_ERROR = 5 /* the GPU's driver reported an error */
} rung_status;

/* The values of the next two enums equal those of CBLAS. */
typedef enum rung_order { RUNG_ROW_MAJOR = 101, RUNG_COL_MAJOR = 102 } rung_order;
typedef enum rung_transpose { RUNG_NO_TRANS = 111, RUNG_TRANS = 112 } rung_transpose;

typedef enum rung_dot_mode {
  RUNG_DOT_FAST = 0,
  RUNG_DOT_DETERMINISTIC = 1,
  RUNG_DOT_COMPENSATED = 2,
  RUNG_DOT_REPRODUCIBLE = 3
} rung_dot_mode;

/* The values equal those of rung::ComputeMode. */
typedef enum rung_compute_mode {
  RUNG_COMPUTE_STANDARD = 0,
  RUNG_COMPUTE_SPLIT = 1,
  RUNG_COMPUTE_REPRODUCIBLE = 2,
  RUNG_COMPUTE_BATCH_INVARIANT = 3
} rung_compute_mode;

/* The bits of a bfloat16 and of an IEEE-754 binary16. */
typedef uint16_t rung_bfloat16;
typedef uint16_t rung_float16;
/* The bits of 8-bit floating-point numbers in the OCP formats. */
typedef uint8_t rung_float8_e4m3;
typedef uint8_t rung_float8_e5m2;

/* Initialize options with their macro, then set the fields that you need. struct_size tells the
 * library which fields the caller was compiled with, so that later versions can add fields. Fields
 * that an older caller lacks take their defaults. Fields of a newer caller that the library does
 * not know must be zero; otherwise the call returns RUNG_INVALID_ARGUMENT. */
typedef struct rung_gemm_options {
  size_t struct_size;
  int32_t threads;      /* the most threads to use; 0: as rung_set_num_threads() says */
  int32_t compute_mode; /* a rung_compute_mode */
} rung_gemm_options;
#define RUNG_GEMM_OPTIONS_INIT {sizeof(rung_gemm_options), 0, RUNG_COMPUTE_STANDARD}

typedef struct rung_dot_options {
  size_t struct_size;
  int32_t threads;
  int32_t mode; /* a rung_dot_mode */
} rung_dot_options;
#define RUNG_DOT_OPTIONS_INIT {sizeof(rung_dot_options), 0, RUNG_DOT_DETERMINISTIC}

typedef struct rung_cuda_options {
  size_t struct_size;
  void* workspace; /* device memory, aligned to 256 bytes, zero before its first use and then left
                      to the calls of one stream; null: the library allocates one */
  size_t workspace_bytes;
  int32_t multiprocessors; /* the most SMs that persistent kernels occupy; 0: all */
  int32_t compute_mode;    /* a rung_compute_mode */
} rung_cuda_options;
#define RUNG_CUDA_OPTIONS_INIT {sizeof(rung_cuda_options), NULL, 0, 0, RUNG_COMPUTE_STANDARD}

typedef struct rung_cuda_dot_options {
  size_t struct_size;
  int32_t mode;           /* a rung_dot_mode */
  int32_t result_on_host; /* 0: result is device memory; 1: host memory, and the call blocks */
  void* workspace;        /* as above, zero at first; at least 1 MiB */
  size_t workspace_bytes;
} rung_cuda_dot_options;
#define RUNG_CUDA_DOT_OPTIONS_INIT \
  {sizeof(rung_cuda_dot_options), RUNG_DOT_DETERMINISTIC, 0, NULL, 0}

/* The version of the library at run time, such as "0.1.0". */
RUNG_C_API const char* rung_version(void);

/* A short description of a rung_status; never null. */
RUNG_C_API const char* rung_status_string(int status);

/* The one-line message of this thread's last call that did not return RUNG_OK, or an empty string.
 * Valid until the next call that fails. */
RUNG_C_API const char* rung_last_error(void);

/* The thread limit of all calls whose options have threads 0, as in threads.hpp; 0 restores the
 * limit from the environment. The getter returns the limit or, without one, the number of
 * processors that the calling thread may run on. */
RUNG_C_API rung_status rung_set_num_threads(int32_t threads);
RUNG_C_API int32_t rung_get_num_threads(void);

/* C = alpha * op(A) * op(B) + beta * C, where op(X) is X or its transpose, op(A) is m x k, op(B) is
 * k x n and C is m x n. All matrices are stored in the same order. alpha multiplies complete or
 * partial sums over k: a sum that overflows stays infinite, however small alpha is. options may be
 * null. A call that returns RUNG_INVALID_ARGUMENT or, on CPUs, RUNG_OUT_OF_MEMORY has written
 * nothing.
 *
 * Here and below, C must not share a byte with anything that the call reads
 * (RUNG_INVALID_ARGUMENT). Matrices given by arrays of pointers, offsets and workspaces are not
 * checked for overlap. */
RUNG_C_API rung_status rung_gemm_f32(rung_order order, rung_transpose trans_a,
                                     rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                     float alpha, const float* a, int64_t lda, const float* b,
                                     int64_t ldb, float beta, float* c, int64_t ldc,
                                     const rung_gemm_options* options);
RUNG_C_API rung_status rung_gemm_f64(rung_order order, rung_transpose trans_a,
                                     rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                     double alpha, const double* a, int64_t lda, const double* b,
                                     int64_t ldb, double beta, double* c, int64_t ldc,
                                     const rung_gemm_options* options);
RUNG_C_API rung_status rung_gemm_i32(rung_order order, rung_transpose trans_a,
                                     rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                     int32_t alpha, const int32_t* a, int64_t lda, const int32_t* b,
                                     int64_t ldb, int32_t beta, int32_t* c, int64_t ldc,
                                     const rung_gemm_options* options);
RUNG_C_API rung_status rung_gemm_bf16(rung_order order, rung_transpose trans_a,
                                      rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                      float alpha, const rung_bfloat16* a, int64_t lda,
                                      const rung_bfloat16* b, int64_t ldb, float beta, float* c,
                                      int64_t ldc, const rung_gemm_options* options);
RUNG_C_API rung_status rung_gemm_f16(rung_order order, rung_transpose trans_a,
                                     rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                     float alpha, const rung_float16* a, int64_t lda,
                                     const rung_float16* b, int64_t ldb, float beta, float* c,
                                     int64_t ldc, const rung_gemm_options* options);
/* int8 accumulated in int32, exactly modulo 2^32. */
RUNG_C_API rung_status rung_gemm_i8(rung_order order, rung_transpose trans_a,
                                    rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                    int32_t alpha, const int8_t* a, int64_t lda, const int8_t* b,
                                    int64_t ldb, int32_t beta, int32_t* c, int64_t ldc,
                                    const rung_gemm_options* options);

/* *result = the sum of x[i * incx] * y[i * incy]. options may be null. *result is written only if
 * the call returns RUNG_OK, after the last element is read, so result may point to an element of x
 * or y. */
RUNG_C_API rung_status rung_dot_f32(int64_t n, const float* x, int64_t incx, const float* y,
                                    int64_t incy, float* result, const rung_dot_options* options);
RUNG_C_API rung_status rung_dot_f64(int64_t n, const double* x, int64_t incx, const double* y,
                                    int64_t incy, double* result, const rung_dot_options* options);
RUNG_C_API rung_status rung_dot_bf16(int64_t n, const rung_bfloat16* x, int64_t incx,
                                     const rung_bfloat16* y, int64_t incy, float* result,
                                     const rung_dot_options* options);
RUNG_C_API rung_status rung_dot_f16(int64_t n, const rung_float16* x, int64_t incx,
                                    const rung_float16* y, int64_t incy, float* result,
                                    const rung_dot_options* options);

/* The same product on an NVIDIA GPU. a, b and c are device memory; stream is a cudaStream_t or
 * CUstream (null: the default stream). The call enqueues the work and returns. */
RUNG_C_API rung_status rung_cuda_gemm_f32(rung_order order, rung_transpose trans_a,
                                          rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                          float alpha, const float* a, int64_t lda, const float* b,
                                          int64_t ldb, float beta, float* c, int64_t ldc,
                                          void* stream, const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_f64(rung_order order, rung_transpose trans_a,
                                          rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                          double alpha, const double* a, int64_t lda,
                                          const double* b, int64_t ldb, double beta, double* c,
                                          int64_t ldc, void* stream,
                                          const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_i32(rung_order order, rung_transpose trans_a,
                                          rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                          int32_t alpha, const int32_t* a, int64_t lda,
                                          const int32_t* b, int64_t ldb, int32_t beta, int32_t* c,
                                          int64_t ldc, void* stream,
                                          const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_bf16(rung_order order, rung_transpose trans_a,
                                           rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                           float alpha, const rung_bfloat16* a, int64_t lda,
                                           const rung_bfloat16* b, int64_t ldb, float beta,
                                           float* c, int64_t ldc, void* stream,
                                           const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_f16(rung_order order, rung_transpose trans_a,
                                          rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                          float alpha, const rung_float16* a, int64_t lda,
                                          const rung_float16* b, int64_t ldb, float beta, float* c,
                                          int64_t ldc, void* stream,
                                          const rung_cuda_options* options);

/* Types that require tensor cores: sm_80 or later, and sm_90 only for 8-bit floats
 * (RUNG_UNAVAILABLE elsewhere), as documented in cuda.hpp. 16-bit results; tf32, which is float
 * rounded to 11 significant bits when it is read; int8 accumulated in int32; and 8-bit floats,
 * whose per-tensor scales are factors of alpha. */
RUNG_C_API rung_status rung_cuda_gemm_bf16_bf16(rung_order order, rung_transpose trans_a,
                                                rung_transpose trans_b, int64_t m, int64_t n,
                                                int64_t k, float alpha, const rung_bfloat16* a,
                                                int64_t lda, const rung_bfloat16* b, int64_t ldb,
                                                float beta, rung_bfloat16* c, int64_t ldc,
                                                void* stream, const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_f16_f16(rung_order order, rung_transpose trans_a,
                                              rung_transpose trans_b, int64_t m, int64_t n,
                                              int64_t k, float alpha, const rung_float16* a,
                                              int64_t lda, const rung_float16* b, int64_t ldb,
                                              float beta, rung_float16* c, int64_t ldc,
                                              void* stream, const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_tf32(rung_order order, rung_transpose trans_a,
                                           rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                           float alpha, const float* a, int64_t lda, const float* b,
                                           int64_t ldb, float beta, float* c, int64_t ldc,
                                           void* stream, const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_i8(rung_order order, rung_transpose trans_a,
                                         rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                         int32_t alpha, const int8_t* a, int64_t lda,
                                         const int8_t* b, int64_t ldb, int32_t beta, int32_t* c,
                                         int64_t ldc, void* stream,
                                         const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_e4m3(rung_order order, rung_transpose trans_a,
                                           rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                           float alpha, const rung_float8_e4m3* a, int64_t lda,
                                           const rung_float8_e4m3* b, int64_t ldb, float beta,
                                           float* c, int64_t ldc, void* stream,
                                           const rung_cuda_options* options);
RUNG_C_API rung_status rung_cuda_gemm_e5m2(rung_order order, rung_transpose trans_a,
                                           rung_transpose trans_b, int64_t m, int64_t n, int64_t k,
                                           float alpha, const rung_float8_e5m2* a, int64_t lda,
                                           const rung_float8_e5m2* b, int64_t ldb, float beta,
                                           float* c, int64_t ldc, void* stream,
                                           const rung_cuda_options* options);

/* The dot product on an NVIDIA GPU. x and y are device memory, and so is result unless
 * options->result_on_host is 1. result must not point to an element of x or y. */
RUNG_C_API rung_status rung_cuda_dot_f32(int64_t n, const float* x, int64_t incx, const float* y,
                                         int64_t incy, float* result, void* stream,
                                         const rung_cuda_dot_options* options);
RUNG_C_API rung_status rung_cuda_dot_f64(int64_t n, const double* x, int64_t incx, const double* y,
                                         int64_t incy, double* result, void* stream,
                                         const rung_cuda_dot_options* options);
RUNG_C_API rung_status rung_cuda_dot_bf16(int64_t n, const rung_bfloat16* x, int64_t incx,
                                          const rung_bfloat16* y, int64_t incy, float* result,
                                          void* stream, const rung_cuda_dot_options* options);
RUNG_C_API rung_status rung_cuda_dot_f16(int64_t n, const rung_float16* x, int64_t incx,
                                         const rung_float16* y, int64_t incy, float* result,
                                         void* stream, const rung_cuda_dot_options* options);

/* Element types of a rung_tensor. RUNG_DTYPE_TF32 elements are floats that are rounded to 11
 * significant bits when they are read. */
typedef enum rung_dtype {
  RUNG_DTYPE_F32 = 0,
  RUNG_DTYPE_F64 = 1,
  RUNG_DTYPE_I32 = 2,
  RUNG_DTYPE_BF16 = 3,
  RUNG_DTYPE_F16 = 4,
  RUNG_DTYPE_TF32 = 5,
  RUNG_DTYPE_I8 = 6,
  RUNG_DTYPE_E4M3 = 7,
  RUNG_DTYPE_E5M2 = 8
} rung_dtype;

/* The values equal those of DLPack's DLDeviceType. */
typedef enum rung_device_type { RUNG_DEVICE_CPU = 1, RUNG_DEVICE_CUDA = 2 } rung_device_type;

/* A matrix or a batch of matrices whose type is known at run time. Calls do not retain pointers to
 * it. */
typedef struct rung_tensor {
  void* data;             /* the first element; may be null if there are no elements */
  int32_t device_type;    /* a rung_device_type: where data points */
  int32_t device_id;      /* the ordinal of the GPU; 0 for RUNG_DEVICE_CPU */
  int32_t ndim;           /* 2; 3 for a batch, whose first extent is the number of matrices */
  int32_t dtype;          /* a rung_dtype */
  const int64_t* shape;   /* ndim extents */
  const int64_t* strides; /* ndim distances in elements; null: row-major without gaps */
} rung_tensor;

typedef struct rung_tensor_options {
  size_t struct_size;
  void* stream;    /* CUDA: as in rung_cuda_gemm_f32 */
  void* workspace; /* CUDA: as in rung_cuda_options, zero at first, like the next two */
  size_t workspace_bytes;
  int32_t multiprocessors;
  int32_t threads;       /* CPU: as in rung_gemm_options */
  int32_t compute_mode;  /* a rung_compute_mode */
  int32_t reserved;      /* 0 */
  int32_t* batch_status; /* CUDA, rung_gemm_pointers and rung_gemm_grouped: device memory that
                            becomes 1 if a pointer is null, or offsets are wrong; or null */
} rung_tensor_options;
#define RUNG_TENSOR_OPTIONS_INIT \
  {sizeof(rung_tensor_options), NULL, NULL, 0, 0, 0, RUNG_COMPUTE_STANDARD, 0, NULL}

/* C = alpha * A * B + beta * C for any of the types above on either device: A is m x k, B is k x n
 * and C is m x n. The result is bitwise identical to that of the function for these types and this
 * device. options may be null.
 *
 * - A and B have the same type. C has it, too, if they are f32, f64 or i32. C is f32 for bf16, f16,
 *   tf32, e4m3 and e5m2, and i32 for i8; it may also be bf16 for bf16 and f16 for f16. If all
 *   tensors have 2 dimensions, A may be bf16 and B f32, or A f32 and B bf16; C is f32 then.
 * - Tensors of 3 dimensions are batches with the same number of matrices: C[i] = alpha * A[i] *
 *   B[i] + beta * C[i]. The first stride of A or B may be 0; that of C must keep its matrices
 *   apart.
 * - One of the last two strides of a tensor must be 1, and the other at least the extent of the
 *   dimension with stride 1. The stride of an extent of 1 or 0 is ignored. To transpose a matrix,
 *   exchange its extents and its strides.
 * - All three tensors are on the same device. For RUNG_DEVICE_CUDA this must be the device of the
 *   calling thread's current context or, if none is current, device 0.
 * - alpha and beta are rounded to the type of the sums: float, or double for f64. For integers they
 *   must be 32-bit integers.
 *
 * Returns RUNG_INVALID_ARGUMENT, with a message that names the operand and the value, before
 * writing anything, and RUNG_UNAVAILABLE if the device has no kernel for the types. Other results
 * are as for rung_gemm_f32 and rung_cuda_gemm_f32. */
RUNG_C_API rung_status rung_gemm(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                                 double alpha, double beta, const rung_tensor_options* options);

/* `count` products of matrices at arbitrary addresses: data of a, b and c, which have 2 dimensions,
 * is an array of `count` pointers (void* const*) in the memory of the device. On the CPU, a null
 * pointer in an array returns RUNG_INVALID_ARGUMENT before anything is written. On a GPU, the
 * kernel reads the arrays: it skips a product with a null pointer and sets *options->batch_status
 * to 1. Returns RUNG_UNAVAILABLE on a GPU for i8, e4m3 and e5m2. */
RUNG_C_API rung_status rung_gemm_pointers(int64_t count, const rung_tensor* a, const rung_tensor* b,
                                          const rung_tensor* c, double alpha, double beta,
                                          const rung_tensor_options* options);

/* Grouped products. If b has 3 dimensions and a and c have 2, multiplies rows offsets[g] to
 * offsets[g + 1] (end excluded) of A by B[g]: C rows = alpha * A rows * B[g] + beta * C rows, for
 * each matrix of b. If c has 3 dimensions and a and b have 2, C[g] = alpha * A columns * B rows +
 * beta * C[g], with columns offsets[g] to offsets[g + 1] of A and the same rows of B. offsets is an
 * ascending array with one element more than there are groups, on the device of the operands. On
 * the CPU, offsets that decrease or exceed the matrices return RUNG_INVALID_ARGUMENT before
 * anything is written. On a GPU, the kernel reads the offsets: if they are wrong,
 * *options->batch_status becomes 1 and C is undefined, but nothing outside C is written. See
 * rung/grouped.hpp. */
RUNG_C_API rung_status rung_gemm_grouped(const rung_tensor* a, const rung_tensor* b,
                                         const rung_tensor* c, const int32_t* offsets, double alpha,
                                         double beta, const rung_tensor_options* options);

/* C = alpha * A * B + beta * C for RUNG_DTYPE_E4M3 elements with one RUNG_DTYPE_F32 scale per
 * block: a is m x k, a_scales is m x ceil(k / 128), b is k x n, and b_scales is ceil(k / 128) x
 * ceil(n / 128). c is RUNG_DTYPE_F32 or RUNG_DTYPE_BF16, row-major. If offsets is not null, b and
 * b_scales have 3 dimensions, and offsets are as in rung_gemm_grouped. Other rules and errors are
 * those of rung::gemm_block_scaled in rung/block_scaled.hpp. */
RUNG_C_API rung_status rung_gemm_block_scaled(const rung_tensor* a, const rung_tensor* a_scales,
                                              const rung_tensor* b, const rung_tensor* b_scales,
                                              const rung_tensor* c, const int32_t* offsets,
                                              double alpha, double beta,
                                              const rung_tensor_options* options);

/* Quantized n x k weights; rung::QuantizedWeights in rung/weight_only.hpp documents the fields.
 * `scales` has n x k / group elements of RUNG_DTYPE_F32, BF16 or F16, row-major; all pointers refer
 * to its device. zeros may be NULL. */
typedef struct rung_quantized_weights {
  const void* elements;
  int32_t bits;
  int64_t n, k;
  int64_t group;
  const rung_tensor* scales;
  const uint8_t* zeros;
} rung_quantized_weights;

/* The result of rung_pack_weights: rung::PackedWeights. The caller owns the memory at `data` and
 * may set `data` to a copy of it. */
typedef struct rung_packed_weights {
  const void* data;
  int64_t n, k;
  int64_t group;
  int32_t bits;
  int32_t scales; /* a rung_dtype */
  int32_t has_zeros;
  uint32_t format;
} rung_packed_weights;

/* The number of bytes that rung_pack_weights writes. Reads no elements. */
RUNG_C_API rung_status rung_packed_weights_bytes(const rung_quantized_weights* weights,
                                                 size_t* bytes);

/* Packs weights once for many products, on the device of their scales, and describes them in
 * `packed`. `memory` is on the same device and aligned to 16 bytes. Only the options threads and
 * stream are used. */
RUNG_C_API rung_status rung_pack_weights(const rung_quantized_weights* weights, void* memory,
                                         rung_packed_weights* packed,
                                         const rung_tensor_options* options);

/* C = alpha * A * W^T + beta * C, for a of RUNG_DTYPE_BF16 or F16, and c of the same type or of
 * RUNG_DTYPE_F32. a, c and the packed weights are on one device. Other rules and errors are those
 * of rung::gemm_weight_only in rung/weight_only.hpp. */
RUNG_C_API rung_status rung_gemm_weight_only(const rung_tensor* a,
                                             const rung_packed_weights* weights,
                                             const rung_tensor* c, double alpha, double beta,
                                             const rung_tensor_options* options);

/* The values equal those of rung::Activation. */
typedef enum rung_activation {
  RUNG_ACTIVATION_NONE = 0,
  RUNG_ACTIVATION_RELU = 1,
  RUNG_ACTIVATION_GELU_TANH = 2,
  RUNG_ACTIVATION_GELU_ERF = 3,
  RUNG_ACTIVATION_SILU = 4
} rung_activation;

/* Operations on each sum before it is stored in C: rung::Epilogue of epilogue.hpp, which documents
 * the operations and their order. Tensors, and the targets of pointers to float, are on the device
 * of C; null omits the operation. Vectors are tensors of 1 dimension with stride 1. */
typedef struct rung_epilogue {
  size_t struct_size;
  const rung_tensor* row_scale;    /* m elements, f32 (f64 for products of f64) */
  const rung_tensor* column_scale; /* n */
  const rung_tensor* row_bias;     /* m elements, f32, bf16 or f16 (f64) */
  const rung_tensor* column_bias;  /* n */
  const rung_tensor* aux;          /* m x n, written */
  const rung_tensor* residual;     /* of the shape of C; may be C itself, unless gated */
  int32_t activation;              /* a rung_activation */
  int32_t gated;                   /* 1: C has n / 2 columns */
  const float* scale_a;
  const float* scale_b;
  const float* result_scale;
  double result_factor;
  float* amax; /* is raised to the largest magnitude */
} rung_epilogue;
#define RUNG_EPILOGUE_INIT                                    \
  {sizeof(rung_epilogue), NULL, NULL, NULL, NULL, NULL, NULL, \
   RUNG_ACTIVATION_NONE,  0,    NULL, NULL, NULL, 1.0,  NULL}

/* C = epilogue(alpha * A * B + beta * C) for tensors of 2 dimensions, as rung::gemm_epilogue. C may
 * have any type but tf32; for f64 it is f64. epilogue and options may be null.
 *
 * Returns RUNG_INVALID_ARGUMENT, with a message that names the operand, before writing anything.
 * Other results are as for rung_gemm. */
RUNG_C_API rung_status rung_gemm_epilogue(const rung_tensor* a, const rung_tensor* b,
                                          const rung_tensor* c, double alpha, double beta,
                                          const rung_epilogue* epilogue,
                                          const rung_tensor_options* options);

/* Frees the workspace that the library allocated for a stream of the current context, if any. */
RUNG_C_API rung_status rung_cuda_release_workspace(void* stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNG_RUNG_H */
