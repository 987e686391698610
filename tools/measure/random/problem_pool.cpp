#include "tools/measure/random/problem_pool.hpp"

#include <algorithm>

#include "core/dtype.hpp"
#include "core/random.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

constexpr std::int64_t period = 4194301;  // the largest prime below 2^22
constexpr std::size_t alignment = 256;    // of cuMemAlloc

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

std::size_t bytes_of(std::int64_t rows, std::int64_t cols, std::size_t element) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * element;
}

template <class Pointer>
AnyMatrix<Pointer> matrix(std::uintptr_t at, std::int64_t rows, std::int64_t cols,
                          bool transposed) {
  const auto data = reinterpret_cast<Pointer>(at);
  return transposed ? AnyMatrix<Pointer>{data, 1, rows} : AnyMatrix<Pointer>{data, cols, 1};
}

}  // namespace

RandomElements::RandomElements(Dtype dtype, std::int64_t count) : dtype_(dtype) {
  visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    constexpr std::uint64_t seed = 1;
    const std::int64_t made = std::clamp<std::int64_t>(count, 1, period);
    bytes_.resize(static_cast<std::size_t>(made) * sizeof(In));
    auto* const elements = reinterpret_cast<In*>(bytes_.data());
    for (std::int64_t i = 0; i < made; ++i) {
      elements[i] = random_element<In>(Values::reals, seed, i);
    }
  });
}

std::size_t ProblemPool::input_bytes(const Size& size, Dtype dtype) {
  const std::size_t element = rung::input_bytes(dtype);
  return aligned(bytes_of(size.m, size.k, element)) + aligned(bytes_of(size.k, size.n, element));
}

const RandomElements& ProblemPool::elements_of(Dtype dtype, std::size_t bytes) {
  const auto most = static_cast<std::int64_t>(bytes / rung::input_bytes(dtype));
  return elements_.try_emplace(dtype, dtype, most).first->second;
}

PooledGemm ProblemPool::pooled(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed,
                               const RandomElements& elements, std::uintptr_t inputs,
                               std::uintptr_t c) {
  const std::size_t element = rung::input_bytes(dtype);
  const std::size_t b_begin = aligned(bytes_of(size.m, size.k, element));
  const GemmCall call = {.dtype = dtype,
                         .m = size.m,
                         .n = size.n,
                         .k = size.k,
                         .alpha = 1,
                         .a = matrix<const void*>(inputs, size.m, size.k, a_transposed),
                         .b = matrix<const void*>(inputs + b_begin, size.k, size.n, b_transposed),
                         .beta = 0,
                         .c = matrix<void*>(c, size.m, size.n, false)};
  return {call, &elements, static_cast<std::int64_t>(b_begin / element)};
}

}  // namespace rung
