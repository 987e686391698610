// dot/cpu/reproducible: sum without rounding: the result is the exact sum, rounded once, and its
//   bits depend on neither the order of the terms, nor the threads, nor the machine.
// from: compensated | removes: low-order bits that depend on how the sum is partitioned, and the
//   error itself | bottleneck: additions, and the memory that widely spread exponents use
// needs: nothing; SIMD by Highway, dispatched at run time | try: rung verify dot/cpu/reproducible

#include <algorithm>
#include <tuple>

#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"
#include "device/long_accumulator.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dot/cpu/reproducible.cpp"
#include "device/cpu/simd.hpp"
// Compiled once per target:
#include "device/cpu/load-inl.hpp"

#ifndef RUNG_DOT_CPU_REPRODUCIBLE
#define RUNG_DOT_CPU_REPRODUCIBLE
namespace rung::reproducible_dot {

// A long accumulator costs tens of cycles per term. A floating-point expansion absorbs most terms
// first: a few doubles whose sum is exact, because each addition passes its rounding error on to
// the next. After Collange, Defour, Graillat and Iakymchuk, "Numerical reproducibility for the
// parallel reduction on multi- and many-core architectures", Parallel Computing 49, 2015.

/// Adds a chunk to the words of a LongAccumulator<Out>.
template <class In>
using ChunkFunction = void (*)(const In* x, const In* y, std::int64_t n, std::int64_t* words);

using ChunkFunctions = std::tuple<ChunkFunction<float>, ChunkFunction<double>,
                                  ChunkFunction<bfloat16>, ChunkFunction<float16>>;

/// The number of doubles that hold a typical sum of products: 16, 48 or 106 bits, plus the range of
/// their exponents.
template <class In>
constexpr std::size_t usual_parts = sizeof(In) == 8 ? 3 : sizeof(In) / 2;

}  // namespace rung::reproducible_dot
#endif

HWY_BEFORE_NAMESPACE();
namespace rung::reproducible_dot::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::load;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr std::int64_t lanes = hn::MaxLanes(D());

// sum += term; returns the exact rounding error (Knuth, TAOCP 2, 4.2.2, theorem B).
HWY_INLINE V add(V& sum, V term) {
  const V total = hn::Add(sum, term);
  const V part = hn::Sub(total, sum);
  const V error = hn::Add(hn::Sub(sum, hn::Sub(total, part)), hn::Sub(term, part));
  sum = total;
  return error;
}

HWY_INLINE bool all_zero(V values) { return hn::AllTrue(D(), hn::Eq(values, hn::Zero(D()))); }

/// Holds the remainder that the usual parts of a sum cannot: two more parts, then the words. It is
/// a separate object, so that the usual parts can stay in registers.
template <class Out>
class Rest {
 public:
  explicit Rest(std::int64_t* words) : words_(words) {}

  HWY_NOINLINE void add_terms(V terms) {
    for (V& part : parts_) terms = add(part, terms);
    if (!all_zero(terms)) to_words(terms);
  }

  /// Adds products with integer arithmetic.
  template <class In>
  HWY_NOINLINE void add_products(const In* x, const In* y, std::int64_t n) {
    const auto widened = [](In value) { return static_cast<double>(static_cast<Out>(value)); };
    for (std::int64_t i = 0; i < n; ++i) {
      LongAccumulator<Out>::add_product(widened(x[i]), widened(y[i]), add_to_words());
    }
  }

  /// Moves everything to the words, and propagates the carries.
  template <std::size_t usual>
  void finish(const V (&parts)[usual]) {
    for (const V& part : parts) to_words(part);
    for (const V& part : parts_) to_words(part);
    LongAccumulator<Out>::carry(words_);
  }

 private:
  auto add_to_words() {
    return [this](int word, std::int64_t amount) { words_[word] += amount; };
  }
  void to_words(V terms) {
    double values[lanes];
    hn::StoreU(terms, D(), values);
    for (const double value : values) LongAccumulator<Out>::add_value(value, add_to_words());
  }

  V parts_[2] = {hn::Zero(D()), hn::Zero(D())};
  std::int64_t* words_;
};

// Adds terms to the parts from `first` on. Returns the remainder: usually 0, and NaN if a term is
// infinite or NaN.
template <std::size_t usual>
HWY_INLINE V add_terms(V (&parts)[usual], V terms, std::size_t first) {
#pragma GCC unroll 8
  for (std::size_t p = first; p < usual; ++p) terms = add(parts[p], terms);
  return terms;
}

template <class Out, class In>
HWY_INLINE V load_widened(const In* at) {
  if constexpr (sizeof(Out) == sizeof(double)) {
    return load(D(), at);
  } else {
    return hn::PromoteTo(D(), load(hn::Rebind<Out, D>(), at));
  }
}

constexpr int vectors = 4;  // tested together for a remainder
constexpr std::int64_t group = vectors * lanes;

// Adds the products of a group of elements.
template <class In, class Out, std::size_t usual>
HWY_INLINE void add_group(V (&parts)[usual], Rest<Out>& rest, const In* x, const In* y) {
  const D d;
  // A product of two floats or narrower types is exact in double. A product of two doubles has an
  // error, which is exact in double unless the product is near the ends of the range.
  constexpr int terms = sizeof(In) == sizeof(double) ? 2 : 1;
#if !HWY_NATIVE_FMA  // the error needs more than one instruction
  if (terms == 2) return rest.add_products(x, y, group);
#endif
  V before[usual], left[vectors * terms];
  for (std::size_t p = 0; p < usual; ++p) before[p] = parts[p];
  auto doubles = hn::Eq(hn::Zero(d), hn::Zero(d));
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) {
    const V a = load_widened<Out>(x + v * lanes), b = load_widened<Out>(y + v * lanes);
    const V product = hn::Mul(a, b);
    left[v] = add_terms(parts, product, 0);
    if constexpr (terms == 2) {
      left[vectors + v] = add_terms(parts, hn::MulSub(a, b, product), 1);
      const V size = hn::Abs(product);
      const auto zero = hn::Or(hn::Eq(a, hn::Zero(d)), hn::Eq(b, hn::Zero(d)));
      const auto large = hn::Or(hn::Ge(size, hn::Set(d, 0x1p-900)), zero);
      doubles = hn::And(doubles, hn::And(large, hn::Le(size, hn::Set(d, 0x1p900))));
    }
  }
  V any = left[0];
#pragma GCC unroll 8
  for (int l = 1; l < vectors * terms; ++l) any = hn::Or(any, left[l]);
  const bool usual_terms = terms == 1 || hn::AllTrue(d, doubles);
  if (HWY_LIKELY(all_zero(any) && usual_terms)) return;

  bool finite = usual_terms;
  for (const V& l : left) finite = finite && hn::AllTrue(d, hn::Eq(l, l));
  if (finite) {
    for (const V& l : left) rest.add_terms(l);
    return;
  }
  // Undo the addition.
  for (std::size_t p = 0; p < usual; ++p) parts[p] = before[p];
  rest.add_products(x, y, group);
}

template <class In, class Out>
void add_chunk(const In* x, const In* y, std::int64_t n, std::int64_t* words) {
  V parts[usual_parts<In>];
  for (V& part : parts) part = hn::Zero(D());
  Rest<Out> rest(words);
  std::int64_t i = 0;
  for (; i + group <= n; i += group) add_group(parts, rest, x + i, y + i);
  if (i < n) {
    In last_x[group] = {}, last_y[group] = {};
    std::copy_n(x + i, n - i, last_x);
    std::copy_n(y + i, n - i, last_y);
    add_group(parts, rest, last_x, last_y);
  }
  rest.finish(parts);
}

ChunkFunctions functions() {
  return {add_chunk<float, float>, add_chunk<double, double>, add_chunk<bfloat16, float>,
          add_chunk<float16, float>};
}

}  // namespace rung::reproducible_dot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace reproducible_dot {

constexpr std::int64_t chunk = 1 << 16;
constexpr std::int64_t groups_per_thread = 8;

struct Reproducible {
  template <class In, class Out>
  static Out run(const Dot<In>& d, int threads) {
    constexpr std::int64_t words = LongAccumulator<Out>::words;
    const std::int64_t chunks = cpu::ceil_div(d.n, chunk);
    const std::int64_t groups =
        std::max<std::int64_t>(1, std::min(groups_per_thread * threads, chunks));
    std::int64_t* const sums = cpu::scratch<std::int64_t>(groups * words);
    std::fill_n(sums, groups * words, 0);
    cpu::parallel_for(groups, threads, [&](std::int64_t group) {
      const std::int64_t end = (group + 1) * chunks / groups;
      for (std::int64_t c = group * chunks / groups; c < end; ++c) {
        const std::int64_t begin = c * chunk;
        const std::int64_t n = std::min(chunk, d.n - begin);
        add<In>({n, d.x + begin * d.incx, d.incx, d.y + begin * d.incy, d.incy},
                sums + group * words);
      }
    });
    for (std::int64_t i = words; i < groups * words; ++i) sums[i % words] += sums[i];
    return LongAccumulator<Out>::rounded(sums);
  }

  template <class In>
  static void add(const Dot<In>& d, std::int64_t* words) {
    static const auto add_chunk = std::get<ChunkFunction<In>>(RUNG_PICK_TARGET(functions)());
    if (d.incx == 1 && d.incy == 1) return add_chunk(d.x, d.y, d.n, words);

    constexpr std::int64_t gathered = 1024;
    In x[gathered], y[gathered];
    for (std::int64_t begin = 0; begin < d.n; begin += gathered) {
      const std::int64_t n = std::min(gathered, d.n - begin);
      for (std::int64_t i = 0; i < n; ++i) {
        x[i] = d.x[(begin + i) * d.incx];
        y[i] = d.y[(begin + i) * d.incy];
      }
      add_chunk(x, y, n, words);
    }
  }
};

}  // namespace reproducible_dot

extern const cpu::DotRung dot_cpu_reproducible =
    cpu::dot_rung<reproducible_dot::Reproducible>(cpu::Strides::any);

}  // namespace rung
#endif  // HWY_ONCE
