#pragma once
// A GEMM in device memory in column-major order, as cuBLAS requires. A row-major C is the
// column-major C of the transposed problem, C' = B' A': B is the first factor, and m and n are
// swapped.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "backends/cuda/gemm_operands.hpp"
#include "core/call.hpp"
#include "core/cublas/values.hpp"

namespace rung {

/// A factor of the product.
struct CublasFactor {
  cublas::Operation operation;
  std::int64_t ld;
  const void* data;  // on the device
  std::int64_t batch_stride;
};

/// alpha or beta in host memory, in the accumulation type.
union CublasScalar {
  double f64;
  float f32;
  std::int32_t s32;
};

struct ColumnMajorGemm {
  /// Copies the operands to the device, whose context must be current. Throws cuda::DriverError and
  /// std::bad_alloc.
  ColumnMajorGemm(cuda::Gpu& gpu, const GemmCall& call);

  std::shared_ptr<cuda::GemmOperands> operands;
  Dtype dtype;
  std::int64_t m, n, k;
  CublasFactor first, second;
  void* c;
  std::int64_t ldc;
  std::int64_t batch, batch_stride_c;
  CublasScalar alpha, beta;

  cublas::DataType in_type() const;
  cublas::DataType out_type() const;
  /// The type of accumulators, alpha and beta.
  cublas::DataType scale_type() const;
  cublas::ComputeType compute() const;
};

/// A brief reason why cuBLAS does not support this GEMM; empty if it does.
std::optional<std::string> why_not_in_cublas(const GemmCall& call);

}  // namespace rung
