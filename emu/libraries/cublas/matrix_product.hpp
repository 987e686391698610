#pragma once
// Products of matrices whose element types are known at run time.

#include "emu/libraries/cublas/context.hpp"

namespace rung::emu::cublas {

/// A column-major matrix in device memory.
struct Operand {
  const void* data;
  cudaDataType type;
  int ld;
};

/// C = alpha op(A) op(B) + beta C: op(A) is m x k, op(B) is k x n.
struct Product {
  cublasOperation_t op_a, op_b;
  int m, n, k;
  Operand a, b, c;
  void* d;  // the result; usually C itself
};

/// Computes the product in int32 if C is int32, in double if C is double, otherwise in float. Throws Failure
/// for types that cannot be combined.
void multiply(const cublasContext& context, const Product& product, double alpha, double beta);

/// alpha or beta, of the type that computations of this type have.
double read_scale(const cublasContext& context, const void* scale, cublasComputeType_t compute,
                  cudaDataType c_type);

/// `count` elements as T, whatever their type. T is float, double or int.
template <class T>
std::vector<T> load_as(const void* from, cudaDataType type, std::size_t count, cudaStream_t stream);
template <class T>
void store_as(void* to, cudaDataType type, const std::vector<T>& values, cudaStream_t stream);

}  // namespace rung::emu::cublas
