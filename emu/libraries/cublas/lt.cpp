// cublasLt: one product with an epilogue, row- or column-major.

#include "cublasLt.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "emu/libraries/cublas/matrix_product.hpp"

using namespace rung::emu::cublas;

namespace {

struct Layout {
  cudaDataType type;
  std::uint64_t rows, cols;
  std::int64_t ld;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

struct Description {
  cublasComputeType_t compute;
  cudaDataType scale_type;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  void* aux = nullptr;
  std::int64_t aux_ld = 0;
  cudaDataType bias_type = static_cast<cudaDataType>(-1);
  std::int32_t pointer_mode = 0;
};

template <class T>
T& as(void* opaque) {
  return *static_cast<T*>(opaque);
}

template <class T>
bool set(T& field, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return false;
  std::memcpy(&field, value, bytes);
  return true;
}

double gelu(double x) {
  const double inner = std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

bool has(cublasLtEpilogue_t epilogue, int bit) { return (static_cast<int>(epilogue) & bit) != 0; }
constexpr int relu_bit = 2, bias_bit = 4, gelu_bit = 32, aux_bit = 128;

// Bias along the rows, then the activation, on the column-major result.
void apply_epilogue(const cublasContext& context, const Description& of, void* d, cudaDataType type,
                    int m, int n, int ld) {
  if (of.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return;
  constexpr int known = relu_bit | bias_bit | gelu_bit | aux_bit;
  if ((static_cast<int>(of.epilogue) & ~(known | 1)) != 0) {
    throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};  // gradients
  }
  std::vector<float> values = load_as<float>(d, type, span(m, n, ld), context.stream);
  std::vector<float> bias(static_cast<std::size_t>(m));
  if (has(of.epilogue, bias_bit)) {
    const cudaDataType bias_type = static_cast<int>(of.bias_type) < 0 ? type : of.bias_type;
    bias = load_as<float>(of.bias, bias_type, bias.size(), context.stream);
  }
  std::vector<float> before;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      float& value = values[static_cast<std::size_t>(i) +
                            static_cast<std::size_t>(j) * static_cast<std::size_t>(ld)];
      value += bias[static_cast<std::size_t>(i)];
      if (has(of.epilogue, aux_bit)) before.push_back(value);
      if (has(of.epilogue, relu_bit)) value = value > 0 ? value : 0;
      if (has(of.epilogue, gelu_bit)) value = static_cast<float>(gelu(value));
    }
  }
  if (has(of.epilogue, aux_bit)) {
    if (!has(of.epilogue, gelu_bit) || of.aux_ld != m) throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
    store_as(of.aux, type, before, context.stream);
  }
  store_as(d, type, values, context.stream);
}

cublasOperation_t other(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/// Converts an extent or a leading dimension. Values beyond int's range are not supported.
template <class T>
int as_int(T value) {
  if (!std::in_range<int>(value)) throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  return static_cast<int>(value);
}

void matmul(const Description& of, const void* alpha, const void* a, const Layout& layout_a,
            const void* b, const Layout& layout_b, const void* beta, const void* c,
            const Layout& layout_c, void* d, const Layout& layout_d, cudaStream_t stream) {
  require_known(of.op_a, of.op_b);
  for (const Layout* layout : {&layout_a, &layout_b, &layout_c, &layout_d}) {
    const bool is_known =
        layout->order == CUBLASLT_ORDER_COL || layout->order == CUBLASLT_ORDER_ROW;
    if (!is_known) throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  }
  const bool has_scalar_mode = of.pointer_mode == CUBLASLT_POINTER_MODE_HOST ||
                               of.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  if (!has_scalar_mode || layout_c.order != layout_d.order || layout_c.ld != layout_d.ld) {
    throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  }
  cublasContext context;
  context.stream = stream;
  context.pointer_mode =
      of.pointer_mode == 0 ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE;
  // A row-major matrix is the column-major one transposed.
  const bool rows_c = layout_c.order == CUBLASLT_ORDER_ROW;
  cublasOperation_t op_a = layout_a.order == CUBLASLT_ORDER_ROW ? other(of.op_a) : of.op_a;
  cublasOperation_t op_b = layout_b.order == CUBLASLT_ORDER_ROW ? other(of.op_b) : of.op_b;
  const int m = as_int(layout_d.rows), n = as_int(layout_d.cols);
  const int k = as_int(of.op_a == CUBLAS_OP_N ? layout_a.cols : layout_a.rows);
  const double scale_ab = read_scale(context, alpha, of.compute, of.scale_type);
  const double scale_c = read_scale(context, beta, of.compute, of.scale_type);
  const Operand first = {a, layout_a.type, as_int(layout_a.ld)};
  const Operand second = {b, layout_b.type, as_int(layout_b.ld)};
  const Operand third = {c == nullptr ? d : c, layout_c.type, as_int(layout_c.ld)};
  const Product product = rows_c
                              ? Product{other(op_b), other(op_a), n, m, k, second, first, third, d}
                              : Product{op_a, op_b, m, n, k, first, second, third, d};
  multiply(context, product, scale_ab, scale_c);
  if (rows_c && of.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  apply_epilogue(context, of, d, layout_d.type, m, n, as_int(layout_d.ld));
}

const void* moved(const void* from, const Layout& layout, int times) {
  static constexpr int bytes[] = {4, 8, 2, 1};
  const auto type = static_cast<std::size_t>(layout.type);
  const std::int64_t size = type < 4 ? bytes[type] : layout.type == CUDA_R_32I ? 4 : 2;
  return from == nullptr ? from : static_cast<const char*>(from) + times * layout.stride * size;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate_v2(reinterpret_cast<cublasHandle_t*>(handle));
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy_v2(reinterpret_cast<cublasHandle_t>(handle));
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute, cudaDataType_t scale_type) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{compute, scale_type});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete reinterpret_cast<Description*>(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  auto& of = as<Description>(description);
  bool fits = true;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: fits = set(of.op_a, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_TRANSB: fits = set(of.op_b, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE: fits = set(of.epilogue, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: fits = set(of.bias, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: fits = set(of.bias_type, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: fits = set(of.pointer_mode, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: fits = set(of.aux, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: fits = set(of.aux_ld, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: fits = set(of.scale_type, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: fits = set(of.compute, value, bytes); break;
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t ld) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, cols, ld});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
  auto& of = as<Layout>(layout);
  bool fits = true;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: fits = set(of.type, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_ORDER: fits = set(of.order, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_ROWS: fits = set(of.rows, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_COLS: fits = set(of.cols, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_LD: fits = set(of.ld, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: fits = set(of.batch, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: fits = set(of.stride, value, bytes); break;
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new char);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<char*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t /*preference*/,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void* /*value*/, size_t /*bytes*/) {
  return CUBLAS_STATUS_SUCCESS;
}

// There is one algorithm.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* returned) {
  if (requested < 1 || returned == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};
  results[0].wavesCount = 1;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t layout_a,
                              const void* b, cublasLtMatrixLayout_t layout_b, const void* beta,
                              const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*,
                              size_t, cudaStream_t stream) {
  return guarded(handle, [&] {
    const auto &of_a = as<Layout>(layout_a), &of_b = as<Layout>(layout_b);
    const auto &of_c = as<Layout>(layout_c), &of_d = as<Layout>(layout_d);
    for (int i = 0; i < of_d.batch; ++i) {
      matmul(as<Description>(description), alpha, moved(a, of_a, i), of_a, moved(b, of_b, i), of_b,
             beta, moved(c, of_c, i), of_c, const_cast<void*>(moved(d, of_d, i)), of_d, stream);
    }
  });
}

}  // extern "C"
