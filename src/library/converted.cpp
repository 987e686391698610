#include "library/converted.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "library/epilogue.hpp"
#include "library/gemm.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// An operand of bfloat16, row-major or column-major as what it is converted from.
class Widened {
 public:
  template <class T>
  Widened(const Matrix<const T>& from, std::int64_t rows, std::int64_t cols, Order order) {
    std::array<bfloat16, 256> numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      T element;
      element.bits = static_cast<std::uint8_t>(i);
      numbers[i] = bfloat16(static_cast<float>(element));
    }
    const bool by_rows = order == Order::row_major;
    const std::int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    const std::int64_t ld = by_rows ? from.row_stride : from.col_stride;
    elements_ =
        std::make_unique_for_overwrite<bfloat16[]>(static_cast<std::size_t>(lines * length));
    for (std::int64_t line = 0; line < lines; ++line) {
      for (std::int64_t i = 0; i < length; ++i) {
        elements_[line * length + i] = numbers[from.data[line * ld + i].bits];
      }
    }
    matrix_ = {elements_.get(), by_rows ? length : 1, by_rows ? 1 : length};
  }
  const AnyMatrix<const void*>& matrix() const { return matrix_; }

 private:
  std::unique_ptr<bfloat16[]> elements_;
  AnyMatrix<const void*> matrix_;
};

template <class In>
void run_widened(CanonicalCall canonical, const GemmOptions& options) {
  GemmCall& call = canonical.call;
  call.dtype = Dtype::bf16;
  if (!canonical.multiplies) return cpu::gemm(canonical, options);
  const Widened a(call.a.as<const In>(), call.m, call.k, canonical.a);
  const Widened b(call.b.as<const In>(), call.k, call.n, canonical.b);
  call.a = a.matrix();
  call.b = b.matrix();
  cpu::gemm(canonical, options);
}

void run_narrowed(const CanonicalCall& canonical, Dtype product, ElementType out,
                  const GemmOptions& options) {
  const GemmCall& call = canonical.call;
  EpilogueCall converted = {
      .product = canonical,
      .epilogue = {.m = call.m,
                   .n = call.n,
                   .alpha = call.alpha,
                   .beta = call.beta,
                   .c = {call.c.data, call.c.row_stride, call.c.col_stride, out}}};
  GemmCall& sums = converted.product.call;
  sums.dtype = product;
  sums.alpha = 1;
  sums.beta = 0;
  sums.c = {nullptr, call.n, 1};
  cpu::gemm_epilogue(converted, options);
}

}  // namespace

bool cpu::converts(Dtype dtype) {
  return dtype == Dtype::bf16_bf16 || dtype == Dtype::f16_f16 || dtype == Dtype::e4m3 ||
         dtype == Dtype::e5m2;
}

void cpu::gemm_converted(const CanonicalCall& canonical, const GemmOptions& options) {
  switch (canonical.call.dtype) {
    case Dtype::e4m3: return run_widened<float8_e4m3>(canonical, options);
    case Dtype::e5m2: return run_widened<float8_e5m2>(canonical, options);
    case Dtype::f16_f16: return run_narrowed(canonical, Dtype::f16, ElementType::f16, options);
    default: return run_narrowed(canonical, Dtype::bf16, ElementType::bf16, options);
  }
}

}  // namespace rung
