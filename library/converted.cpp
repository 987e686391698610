#include "library/converted.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "core/dtype.hpp"
#include "library/epilogue.hpp"
#include "library/gemm.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// Converts an operand to bfloat16 at `to`, keeping its order.
template <class T>
AnyMatrix<const void*> widened(const Matrix<const T>& from, std::int64_t rows, std::int64_t cols,
                               Order order, bfloat16* to) {
  std::array<bfloat16, 256> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T element;
    element.bits = static_cast<std::uint8_t>(i);
    numbers[i] = bfloat16(static_cast<float>(element));
  }
  const bool by_rows = order == Order::row_major;
  const std::int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
  const std::int64_t ld = by_rows ? from.row_stride : from.col_stride;
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t i = 0; i < length; ++i) {
      to[line * length + i] = numbers[from.data[line * ld + i].bits];
    }
  }
  return {to, by_rows ? length : 1, by_rows ? 1 : length};
}

template <class In>
void run_widened(CanonicalCall canonical, const GemmOptions& options, std::byte* memory) {
  GemmCall& call = canonical.call;
  call.dtype = Dtype::bf16;
  if (!canonical.multiplies) return cpu::gemm(canonical, options);
  auto* const elements = reinterpret_cast<bfloat16*>(memory);
  call.a = widened(call.a.as<const In>(), call.m, call.k, canonical.a, elements);
  call.b = widened(call.b.as<const In>(), call.k, call.n, canonical.b, elements + call.m * call.k);
  cpu::gemm(canonical, options);
}

/// The product with float sums, which an epilogue then rounds.
EpilogueCall narrowed(const CanonicalCall& canonical) {
  const GemmCall& call = canonical.call;
  const bool is_bf16 = call.dtype == Dtype::bf16_bf16;
  EpilogueCall converted = {.product = canonical,
                            .epilogue = {.m = call.m,
                                         .n = call.n,
                                         .alpha = call.alpha,
                                         .beta = call.beta,
                                         .c = {call.c.data, call.c.row_stride, call.c.col_stride,
                                               is_bf16 ? ElementType::bf16 : ElementType::f16}}};
  GemmCall& sums = converted.product.call;
  sums.dtype = is_bf16 ? Dtype::bf16 : Dtype::f16;
  sums.alpha = 1;
  sums.beta = 0;
  sums.c = {nullptr, call.n, 1};
  return converted;
}

}  // namespace

bool cpu::converts(Dtype dtype) {
  return dtype == Dtype::bf16_bf16 || dtype == Dtype::f16_f16 || is_float8(dtype);
}

std::size_t cpu::bytes_to_convert(const CanonicalCall& largest) {
  const GemmCall& call = largest.call;
  if (!is_float8(call.dtype)) return bytes_of_sums(narrowed(largest));
  // Each term is at most the size of an operand in bytes, below 2^63.
  const std::uint64_t elements =
      static_cast<std::uint64_t>(call.m * call.k) + static_cast<std::uint64_t>(call.k * call.n);
  if (elements > std::numeric_limits<std::int64_t>::max() / sizeof(bfloat16)) {
    throw std::bad_alloc();
  }
  return elements * sizeof(bfloat16);
}

void cpu::gemm_converted(const CanonicalCall& canonical, const GemmOptions& options,
                         std::byte* memory) {
  const Dtype dtype = canonical.call.dtype;
  if (!is_float8(dtype)) return gemm_epilogue(narrowed(canonical), options, memory);
  visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (is_float8(dtype_of<In>())) run_widened<In>(canonical, options, memory);
  });
}

}  // namespace rung
