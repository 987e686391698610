#include "tools/measure/peers/column_major_gemm.hpp"

#include <algorithm>

#include "tools/measure/peers/blas_operand.hpp"

namespace rung {
namespace {

CublasFactor factor(const AnyMatrix<const void*>& matrix, std::int64_t rows, std::int64_t cols,
                    const cuda::DeviceMatrix& copy) {
  const BlasOperand operand(matrix, rows, cols);
  return {operand.transposed ? cublas::op_transpose : cublas::op_none, operand.ld,
          reinterpret_cast<const void*>(copy.data()), matrix.batch_stride};
}

CublasScalar scalar(Dtype dtype, double value) {
  CublasScalar scalar{};
  if (dtype == Dtype::f64) {
    scalar.f64 = value;
  } else if (dtype == Dtype::i8) {
    scalar.s32 = static_cast<std::int32_t>(static_cast<std::int64_t>(value));
  } else {
    scalar.f32 = static_cast<float>(value);
  }
  return scalar;
}

}  // namespace

ColumnMajorGemm::ColumnMajorGemm(cuda::Gpu& gpu, const GemmCall& call)
    : operands(std::make_shared<cuda::GemmOperands>(gpu, call)),
      dtype(call.dtype),
      m(call.n),
      n(call.m),
      k(call.k),
      first(factor(call.b, call.k, call.n, operands->b())),
      second(factor(call.a, call.m, call.k, operands->a())),
      c(reinterpret_cast<void*>(operands->c().data())),
      ldc(BlasOperand(call.c, call.m, call.n).ld),
      batch(call.batch),
      batch_stride_c(call.c.batch_stride),
      alpha(scalar(call.dtype, call.alpha)),
      beta(scalar(call.dtype, call.beta)) {}

cublas::DataType ColumnMajorGemm::in_type() const {
  switch (dtype) {
    case Dtype::f64: return cublas::r_64f;
    case Dtype::f16:
    case Dtype::f16_f16: return cublas::r_16f;
    case Dtype::bf16:
    case Dtype::bf16_bf16: return cublas::r_16bf;
    case Dtype::i8: return cublas::r_8i;
    case Dtype::e4m3: return cublas::r_8f_e4m3;
    case Dtype::e5m2: return cublas::r_8f_e5m2;
    default: return cublas::r_32f;
  }
}

cublas::DataType ColumnMajorGemm::out_type() const {
  const bool as_inputs = dtype == Dtype::bf16_bf16 || dtype == Dtype::f16_f16;
  return as_inputs ? in_type() : scale_type();
}

cublas::DataType ColumnMajorGemm::scale_type() const {
  if (dtype == Dtype::f64) return cublas::r_64f;
  return dtype == Dtype::i8 ? cublas::r_32i : cublas::r_32f;
}

cublas::ComputeType ColumnMajorGemm::compute() const {
  switch (dtype) {
    case Dtype::f64: return cublas::compute_64f;
    case Dtype::i8: return cublas::compute_32i;
    case Dtype::tf32: return cublas::compute_32f_fast_tf32;
    default: return cublas::compute_32f;
  }
}

std::optional<std::string> why_not_in_cublas(const GemmCall& call) {
  if (call.dtype == Dtype::i32) return "has no product of 32-bit integers";
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  for (const std::int64_t size :
       {call.m, call.n, call.k, call.batch, BlasOperand(call.a, call.m, call.k).ld,
        BlasOperand(call.b, call.k, call.n).ld, BlasOperand(call.c, call.m, call.n).ld}) {
    if (size > most) return "a size exceeds its 32-bit integers";
  }
  return std::nullopt;
}

}  // namespace rung
