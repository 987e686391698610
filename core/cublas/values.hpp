#pragma once
// Values of cuBLAS's enumerations, from NVIDIA's documentation of cublas_api.h, cublasLt.h and
// library_types.h. librung_cublas and the peers of the bench use them; the cuBLAS of rung emu
// compares its headers with them.

namespace rung::cublas {

/// Each list has rows VALUE(name here, name in cuBLAS, value).
#define RUNG_CUBLAS_STATUSES(VALUE)                           \
  VALUE(success, CUBLAS_STATUS_SUCCESS, 0)                    \
  VALUE(not_initialized, CUBLAS_STATUS_NOT_INITIALIZED, 1)    \
  VALUE(alloc_failed, CUBLAS_STATUS_ALLOC_FAILED, 3)          \
  VALUE(invalid_value, CUBLAS_STATUS_INVALID_VALUE, 7)        \
  VALUE(execution_failed, CUBLAS_STATUS_EXECUTION_FAILED, 13) \
  VALUE(internal_error, CUBLAS_STATUS_INTERNAL_ERROR, 14)     \
  VALUE(not_supported, CUBLAS_STATUS_NOT_SUPPORTED, 15)

#define RUNG_CUBLAS_OPERATIONS(VALUE) \
  VALUE(op_none, CUBLAS_OP_N, 0)      \
  VALUE(op_transpose, CUBLAS_OP_T, 1) \
  VALUE(op_adjoint, CUBLAS_OP_C, 2)   \
  VALUE(op_conjugate, CUBLAS_OP_CONJG, 3)

#define RUNG_CUBLAS_POINTER_MODES(VALUE)            \
  VALUE(host_pointers, CUBLAS_POINTER_MODE_HOST, 0) \
  VALUE(device_pointers, CUBLAS_POINTER_MODE_DEVICE, 1)

/// Lower bits; higher bits are flags.
#define RUNG_CUBLAS_MATH_MODES(VALUE)           \
  VALUE(default_math, CUBLAS_DEFAULT_MATH, 0)   \
  VALUE(pedantic_math, CUBLAS_PEDANTIC_MATH, 2) \
  VALUE(tf32_math, CUBLAS_TF32_TENSOR_OP_MATH, 3)

#define RUNG_CUBLAS_DATA_TYPES(VALUE)  \
  VALUE(r_32f, CUDA_R_32F, 0)          \
  VALUE(r_64f, CUDA_R_64F, 1)          \
  VALUE(r_16f, CUDA_R_16F, 2)          \
  VALUE(r_8i, CUDA_R_8I, 3)            \
  VALUE(r_32i, CUDA_R_32I, 10)         \
  VALUE(r_16bf, CUDA_R_16BF, 14)       \
  VALUE(r_8f_e4m3, CUDA_R_8F_E4M3, 28) \
  VALUE(r_8f_e5m2, CUDA_R_8F_E5M2, 29)

#define RUNG_CUBLAS_COMPUTE_TYPES(VALUE)                         \
  VALUE(compute_32f, CUBLAS_COMPUTE_32F, 68)                     \
  VALUE(compute_32f_pedantic, CUBLAS_COMPUTE_32F_PEDANTIC, 69)   \
  VALUE(compute_64f, CUBLAS_COMPUTE_64F, 70)                     \
  VALUE(compute_64f_pedantic, CUBLAS_COMPUTE_64F_PEDANTIC, 71)   \
  VALUE(compute_32i, CUBLAS_COMPUTE_32I, 72)                     \
  VALUE(compute_32i_pedantic, CUBLAS_COMPUTE_32I_PEDANTIC, 73)   \
  VALUE(compute_32f_fast_16f, CUBLAS_COMPUTE_32F_FAST_16F, 74)   \
  VALUE(compute_32f_fast_16bf, CUBLAS_COMPUTE_32F_FAST_16BF, 75) \
  VALUE(compute_32f_fast_tf32, CUBLAS_COMPUTE_32F_FAST_TF32, 77)

#define RUNG_ENUMERATOR(name, original, value) name = value,
enum Status : int { RUNG_CUBLAS_STATUSES(RUNG_ENUMERATOR) };
enum Operation : int { RUNG_CUBLAS_OPERATIONS(RUNG_ENUMERATOR) };
enum PointerMode : int { RUNG_CUBLAS_POINTER_MODES(RUNG_ENUMERATOR) };
enum MathMode : int { RUNG_CUBLAS_MATH_MODES(RUNG_ENUMERATOR) };
enum DataType : int { RUNG_CUBLAS_DATA_TYPES(RUNG_ENUMERATOR) };
enum ComputeType : int { RUNG_CUBLAS_COMPUTE_TYPES(RUNG_ENUMERATOR) };

namespace lt {

#define RUNG_CUBLASLT_DESC_ATTRIBUTES(VALUE)                        \
  VALUE(compute_type, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 0)         \
  VALUE(scale_type, CUBLASLT_MATMUL_DESC_SCALE_TYPE, 1)             \
  VALUE(pointer_mode, CUBLASLT_MATMUL_DESC_POINTER_MODE, 2)         \
  VALUE(op_a, CUBLASLT_MATMUL_DESC_TRANSA, 3)                       \
  VALUE(op_b, CUBLASLT_MATMUL_DESC_TRANSB, 4)                       \
  VALUE(op_c, CUBLASLT_MATMUL_DESC_TRANSC, 5)                       \
  VALUE(fill_mode, CUBLASLT_MATMUL_DESC_FILL_MODE, 6)               \
  VALUE(epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE, 7)                 \
  VALUE(bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8)         \
  VALUE(aux_pointer, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 11) \
  VALUE(aux_ld, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 12)           \
  VALUE(bias_type, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 26)

#define RUNG_CUBLASLT_LAYOUT_ATTRIBUTES(VALUE)              \
  VALUE(type, CUBLASLT_MATRIX_LAYOUT_TYPE, 0)               \
  VALUE(order, CUBLASLT_MATRIX_LAYOUT_ORDER, 1)             \
  VALUE(rows, CUBLASLT_MATRIX_LAYOUT_ROWS, 2)               \
  VALUE(cols, CUBLASLT_MATRIX_LAYOUT_COLS, 3)               \
  VALUE(ld, CUBLASLT_MATRIX_LAYOUT_LD, 4)                   \
  VALUE(batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5) \
  VALUE(batch_offset, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6)

#define RUNG_CUBLASLT_ORDERS(VALUE)        \
  VALUE(by_columns, CUBLASLT_ORDER_COL, 0) \
  VALUE(by_rows, CUBLASLT_ORDER_ROW, 1)

/// The bits of an epilogue can be combined.
#define RUNG_CUBLASLT_EPILOGUES(VALUE)             \
  VALUE(no_epilogue, CUBLASLT_EPILOGUE_DEFAULT, 1) \
  VALUE(relu, CUBLASLT_EPILOGUE_RELU, 2)           \
  VALUE(bias, CUBLASLT_EPILOGUE_BIAS, 4)           \
  VALUE(gelu, CUBLASLT_EPILOGUE_GELU, 32)

namespace desc {
// The last row: attributes that rung emu does not have.
enum Attribute : int {
  RUNG_CUBLASLT_DESC_ATTRIBUTES(RUNG_ENUMERATOR) sm_count_target = 15,
  a_scale = 17,
  b_scale = 18,
  c_scale = 19,
  d_scale = 20,
  amax_d = 21,
  aux_type = 22,
  a_scale_mode = 31,
  b_scale_mode = 32,
  d_out_scale = 36
};
}  // namespace desc
namespace layout {
enum Attribute : int { RUNG_CUBLASLT_LAYOUT_ATTRIBUTES(RUNG_ENUMERATOR) };
}
enum Order : int { RUNG_CUBLASLT_ORDERS(RUNG_ENUMERATOR) };
enum Epilogue : int { RUNG_CUBLASLT_EPILOGUES(RUNG_ENUMERATOR) aux = 128 };

}  // namespace lt
#undef RUNG_ENUMERATOR

/// True if cuBLAS accepts the operations, extents and leading dimensions of C = alpha op(A) op(B) + beta C with
/// column-major matrices: otherwise it returns CUBLAS_STATUS_INVALID_VALUE. `Product` has members op_a, op_b, m, n,
/// k, a.ld, b.ld and c.ld.
template <class Product>
constexpr bool is_valid_gemm(const Product& g) {
  const int op_a = g.op_a, op_b = g.op_b;
  const auto is_operation = [](int op) { return op >= op_none && op <= op_conjugate; };
  const auto fits = [](auto ld, auto stored_rows) { return ld >= 1 && ld >= stored_rows; };
  return is_operation(op_a) && is_operation(op_b) && g.m >= 0 && g.n >= 0 && g.k >= 0 &&
         fits(g.a.ld, op_a == op_none ? g.m : g.k) && fits(g.b.ld, op_b == op_none ? g.k : g.n) &&
         fits(g.c.ld, g.m);
}

}  // namespace rung::cublas
