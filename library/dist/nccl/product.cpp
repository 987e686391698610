#include "library/dist/nccl/product.hpp"

#include "rung/cuda.hpp"
#include "rung/epilogue.hpp"
#include "rung/error.hpp"

namespace rung::nccl {
namespace {

template <class T>
MatrixView<const T> typed(const InputMatrix& m) {
  return {static_cast<const T*>(m.data), m.rows, m.cols, m.ld, m.order};
}

template <class In, class Out>
void plain(const Product& p, CudaStream stream, const CudaOptions& options) {
  using Scalar = std::conditional_t<std::is_same_v<Out, double>, double, float>;
  const MatrixView<Out> c = {static_cast<Out*>(p.c.data), p.c.rows, p.c.cols, p.c.ld, p.c.order};
  gemm(static_cast<Scalar>(p.alpha), typed<In>(p.a), typed<In>(p.b), static_cast<Scalar>(p.beta), c,
       stream, options);
}

}  // namespace

std::int64_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::f64: return 8;
    case ElementType::bf16:
    case ElementType::f16: return 2;
    default: return 4;
  }
}

void multiply(const Product& p, CudaStream stream, const CudaOptions& options) {
  if (p.c.rows == 0 || p.c.cols == 0) return;
  if (p.addend.data != nullptr) {
    return gemm_epilogue(p.alpha, p.a, p.b, p.beta, p.c, {.residual = p.addend}, stream, options);
  }
  const bool is_wide = p.c.type == ElementType::f32;
  switch (p.a.type) {
    case ElementType::f64: return plain<double, double>(p, stream, options);
    case ElementType::f32: return plain<float, float>(p, stream, options);
    case ElementType::bf16:
      return is_wide ? plain<bfloat16, float>(p, stream, options)
                     : plain<bfloat16, bfloat16>(p, stream, options);
    case ElementType::f16:
      return is_wide ? plain<float16, float>(p, stream, options)
                     : plain<float16, float16>(p, stream, options);
    default: throw Error(Status::invalid_argument, "rung: A has a type that is not multiplied");
  }
}

void add(const InputMatrix& addend, double beta, const OutputMatrix& c, CudaStream stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const ElementType type = c.type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
  const InputMatrix a(nullptr, type, c.rows, 0, 1), b(nullptr, type, 0, c.cols, c.cols);
  gemm_epilogue(0, a, b, beta, c, {.residual = addend}, stream);
}

}  // namespace rung::nccl
