#include "library/mixed.hpp"

#include <algorithm>
#include <memory>

#include "core/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/thread_limit.hpp"
#include "device/cpu/widen.hpp"
#include "library/check_overlap.hpp"
#include "library/gemm.hpp"
#include "library/mode_environment.hpp"
#include "rung/mixed.hpp"
#include "select/cpu/select.hpp"

namespace rung {
namespace {

/// The view with the element type of the other operand. Extents and ld are still in elements.
MatrixView<const float> as_floats(const MatrixView<const bfloat16>& view) {
  return {reinterpret_cast<const float*>(view.data), view.rows, view.cols, view.ld, view.order};
}

MixedCall mixed(const CanonicalCall& product, bool a_is_narrow, const MatrixView<float>& c) {
  // A column-major C is handled as the transposed problem, which exchanges A and B.
  return {product, a_is_narrow == (c.order == Order::row_major)};
}

void run(const MixedCall& mixed, const GemmOptions& options) {
  check::threads("gemm", options.threads);
  check::compute_mode("gemm", options.compute_mode);
  cpu::gemm_mixed(mixed, options);
}

}  // namespace

NarrowLines narrow_lines(const MixedCall& mixed) {
  const auto& [product, a_is_narrow] = mixed;
  const GemmCall& call = product.call;
  const auto& matrix = a_is_narrow ? call.a : call.b;
  const std::int64_t rows = a_is_narrow ? call.m : call.k, cols = a_is_narrow ? call.k : call.n;
  const bool by_rows = (a_is_narrow ? product.a : product.b) == Order::row_major;
  return by_rows ? NarrowLines{rows, cols, matrix.row_stride}
                 : NarrowLines{cols, rows, matrix.col_stride};
}

CanonicalCall with_floats(MixedCall mixed, const float* floats, std::int64_t ld) {
  AnyMatrix<const void*>& matrix = mixed.narrow();
  const bool by_rows = (mixed.a_is_narrow ? mixed.product.a : mixed.product.b) == Order::row_major;
  matrix = {floats, by_rows ? ld : 1, by_rows ? 1 : ld};
  return mixed.product;
}

MixedCall canonical(float alpha, const MatrixView<const bfloat16>& a,
                    const MatrixView<const float>& b, float beta, const MatrixView<float>& c) {
  return mixed(erased(canonical(alpha, as_floats(a), b, beta, c)), true, c);
}

MixedCall canonical(float alpha, const MatrixView<const float>& a,
                    const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c) {
  return mixed(erased(canonical(alpha, a, as_floats(b), beta, c)), false, c);
}

void check_apart(const MixedCall& mixed) {
  constexpr std::int64_t narrow = sizeof(bfloat16), wide = sizeof(float);
  check::apart("gemm", mixed.product.call, mixed.a_is_narrow ? narrow : wide,
               mixed.a_is_narrow ? wide : narrow);
}

void cpu::gemm_mixed(const MixedCall& mixed, const GemmOptions& options) {
  const auto environment = environment_of(options.compute_mode);
  if (!mixed.product.multiplies) return cpu::gemm(mixed.product, options);
  check_apart(mixed);
  constexpr std::int64_t at_once = 1 << 14;  // elements
  const NarrowLines lines = narrow_lines(mixed);
  const auto* const from = static_cast<const bfloat16*>(MixedCall(mixed).narrow().data);
  const auto floats =
      std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(lines.count * lines.length));
  const bool is_small = lines.count * lines.length <= at_once;
  const int threads = options.threads == 0 ? default_threads() : options.threads;
  const std::int64_t lines_at_once = std::max<std::int64_t>(at_once / lines.length, 1);
  parallel_for(ceil_div(lines.count, lines_at_once), is_small ? 1 : threads, [&](std::int64_t i) {
    const std::int64_t end = std::min((i + 1) * lines_at_once, lines.count);
    for (std::int64_t line = i * lines_at_once; line < end; ++line) {
      widen<bfloat16>()(from + line * lines.ld, lines.length, floats.get() + line * lines.length);
    }
  });
  cpu::gemm(with_floats(mixed, floats.get(), lines.length), options);
}

void gemm(float alpha, const MatrixView<const bfloat16>& a, const MatrixView<const float>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(canonical(alpha, a, b, beta, c), options);
}

void gemm(float alpha, const MatrixView<const float>& a, const MatrixView<const bfloat16>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(canonical(alpha, a, b, beta, c), options);
}

}  // namespace rung
