#include "emu/libraries/cublas/matrix_product.hpp"

#include <cstdint>

#include "core/cublas/values.hpp"
#include "rung/gemm.hpp"

namespace rung::emu::cublas {
namespace {

struct Shape {
  int rows, cols, ld;
  bool transposed;
};

Shape shape(cublasOperation_t op, int rows, int cols, int ld) {
  const bool transposed = op != CUBLAS_OP_N;
  return transposed ? Shape{cols, rows, ld, true} : Shape{rows, cols, ld, false};
}

std::size_t span_of(const Shape& of) { return span(of.rows, of.cols, of.ld); }

template <class T>
rung::MatrixView<const T> view(const std::vector<T>& data, const Shape& of) {
  const auto stored = rung::col_major(data.data(), of.rows, of.cols, of.ld);
  return of.transposed ? rung::transposed(stored) : stored;
}

template <class T>
void multiply_as(const cublasContext& context, const Product& product, double alpha, double beta) {
  const auto& [op_a, op_b, m, n, k, a, b, c, d] = product;
  const Shape shape_a = shape(op_a, m, k, a.ld), shape_b = shape(op_b, k, n, b.ld);
  const Shape shape_c = shape(CUBLAS_OP_N, m, n, c.ld);
  if (m == 0 || n == 0) return;
  const auto load = [&](const Operand& from, const Shape& of) {
    return alpha == 0 ? std::vector<T>(span_of(of))
                      : load_as<T>(from.data, from.type, span_of(of), context.stream);
  };
  const std::vector<T> host_a = load(a, shape_a), host_b = load(b, shape_b);
  std::vector<T> host_c = load_as<T>(c.data, c.type, span_of(shape_c), context.stream);
  rung::gemm(static_cast<T>(alpha), view(host_a, shape_a), view(host_b, shape_b),
             static_cast<T>(beta), rung::col_major(host_c.data(), m, n, c.ld));
  store_as(d, c.type, host_c, context.stream);
}

void multiply_integers(const cublasContext& context, const Product& product, double alpha,
                       double beta) {
  const auto& [op_a, op_b, m, n, k, a, b, c, d] = product;
  const Shape shape_a = shape(op_a, m, k, a.ld), shape_b = shape(op_b, k, n, b.ld);
  const Shape shape_c = shape(CUBLAS_OP_N, m, n, c.ld);
  const auto load = [&](const Operand& from, const Shape& of) {
    return alpha == 0 ? std::vector<int>(span_of(of))
                      : load_as<int>(from.data, from.type, span_of(of), context.stream);
  };
  const std::vector<int> host_a = load(a, shape_a), host_b = load(b, shape_b);
  auto host_c = load_as<int>(c.data, c.type, span_of(shape_c), context.stream);
  const auto at = [](const Shape& of, int i, int j) {
    return static_cast<std::size_t>(of.transposed ? j : i) +
           static_cast<std::size_t>(of.transposed ? i : j) * static_cast<std::size_t>(of.ld);
  };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      int sum = 0;
      for (int l = 0; l < k; ++l) sum += host_a[at(shape_a, i, l)] * host_b[at(shape_b, l, j)];
      int& to = host_c[at(shape_c, i, j)];
      to = static_cast<int>(alpha) * sum + (beta == 0 ? 0 : static_cast<int>(beta) * to);
    }
  }
  store_as(d, c.type, host_c, context.stream);
}

template <class T, class Stored>
std::vector<T> load_stored(const void* from, std::size_t count, cudaStream_t stream) {
  const auto stored = download(static_cast<const Stored*>(from), count, stream);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_arithmetic_v<Stored>) {
      values[i] = static_cast<T>(stored[i]);
    } else {
      values[i] = static_cast<T>(static_cast<float>(stored[i]));
    }
  }
  return values;
}

template <class T, class Stored>
void store_stored(void* to, const std::vector<T>& values, cudaStream_t stream) {
  std::vector<Stored> stored(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_arithmetic_v<Stored>) {
      stored[i] = static_cast<Stored>(values[i]);
    } else {
      stored[i] = Stored(static_cast<float>(values[i]));
    }
  }
  upload(static_cast<Stored*>(to), stored, stream);
}

}  // namespace

template <class T>
std::vector<T> load_as(const void* from, cudaDataType type, std::size_t count,
                       cudaStream_t stream) {
  switch (type) {
    case CUDA_R_32F: return load_stored<T, float>(from, count, stream);
    case CUDA_R_64F: return load_stored<T, double>(from, count, stream);
    case CUDA_R_16F: return load_stored<T, rung::float16>(from, count, stream);
    case CUDA_R_16BF: return load_stored<T, rung::bfloat16>(from, count, stream);
    case CUDA_R_8I: return load_stored<T, std::int8_t>(from, count, stream);
    case CUDA_R_8U: return load_stored<T, std::uint8_t>(from, count, stream);
    case CUDA_R_32I: return load_stored<T, std::int32_t>(from, count, stream);
    default: throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  }
}

template <class T>
void store_as(void* to, cudaDataType type, const std::vector<T>& values, cudaStream_t stream) {
  switch (type) {
    case CUDA_R_32F: return store_stored<T, float>(to, values, stream);
    case CUDA_R_64F: return store_stored<T, double>(to, values, stream);
    case CUDA_R_16F: return store_stored<T, rung::float16>(to, values, stream);
    case CUDA_R_16BF: return store_stored<T, rung::bfloat16>(to, values, stream);
    case CUDA_R_8I: return store_stored<T, std::int8_t>(to, values, stream);
    case CUDA_R_32I: return store_stored<T, std::int32_t>(to, values, stream);
    default: throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  }
}

template std::vector<float> load_as(const void*, cudaDataType, std::size_t, cudaStream_t);
template std::vector<double> load_as(const void*, cudaDataType, std::size_t, cudaStream_t);
template std::vector<int> load_as(const void*, cudaDataType, std::size_t, cudaStream_t);
template void store_as(void*, cudaDataType, const std::vector<float>&, cudaStream_t);
template void store_as(void*, cudaDataType, const std::vector<double>&, cudaStream_t);
template void store_as(void*, cudaDataType, const std::vector<int>&, cudaStream_t);

void multiply(const cublasContext& context, const Product& product, double alpha, double beta) {
  require(rung::cublas::is_valid_gemm(product));
  const cudaDataType in = product.a.type, out = product.c.type;
  if ((in == CUDA_R_64F) != (out == CUDA_R_64F) || in != product.b.type) {
    throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
  }
  if (out == CUDA_R_64F) return multiply_as<double>(context, product, alpha, beta);
  if (out == CUDA_R_32I) return multiply_integers(context, product, alpha, beta);
  multiply_as<float>(context, product, alpha, beta);
}

double read_scale(const cublasContext& context, const void* scale, cublasComputeType_t compute,
                  cudaDataType c_type) {
  switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return read_scalar(context, static_cast<const double*>(scale));
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return static_cast<float>(read_scalar(context, static_cast<const rung::float16*>(scale)));
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return c_type == CUDA_R_32I ? read_scalar(context, static_cast<const int*>(scale))
                                  : read_scalar(context, static_cast<const float*>(scale));
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return read_scalar(context, static_cast<const float*>(scale));
  }
  throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
}

}  // namespace rung::emu::cublas
