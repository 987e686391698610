#pragma once
// A gemm in device memory as cuBLAS requires it, column-major. A row-major C is the column-major C
// of the transposed problem, C' = B' A': B comes first, and m and n are swapped.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "backends/cuda/gemm_operands.hpp"
#include "core/call.hpp"

namespace rung {

/// Values of cublasOperation_t (cuBLAS library, 2.2.2).
enum class CublasOperation : int { none = 0, transpose = 1 };
/// Values of cudaDataType_t (cuBLAS library, 4.1.1).
enum class CudaDataType : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  s8 = 3,
  s32 = 10,
  bf16 = 14,
  e4m3 = 28,
  e5m2 = 29
};
/// Values of cublasComputeType_t (cuBLAS library, 2.2.10). Only tf32 rounds f32 to tf32.
enum class CublasCompute : int { f32 = 68, f64 = 70, s32 = 72, tf32 = 77 };

/// One of the two factors.
struct CublasFactor {
  CublasOperation operation;
  std::int64_t ld;
  const void* data;  // on the device
  std::int64_t batch_stride;
};

/// alpha or beta, on the host, in the accumulator type.
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

  CudaDataType in_type() const;
  CudaDataType out_type() const;
  /// Of the accumulators, alpha and beta.
  CudaDataType scale_type() const;
  CublasCompute compute() const;
};

/// Why cuBLAS has no such gemm, in a few words; empty if it has.
std::optional<std::string> why_not_in_cublas(const GemmCall& call);

}  // namespace rung
