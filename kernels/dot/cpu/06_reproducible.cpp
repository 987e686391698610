// dot/cpu/06_reproducible: sum without rounding, so that neither the order of the terms nor the
//   threads nor the machine can change a bit: the result is the exact sum, rounded once.
// from: 04_compensated | removes: last bits that depend on how the sum was cut up, and the error
//   itself | limit: additions, and memory that a wide range of exponents makes it use
// needs: nothing; SIMD by Highway, picked at run time | try: rung verify dot/cpu/06

#include <algorithm>
#include <cmath>

#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"
#include "device/long_accumulator.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dot/cpu/06_reproducible.cpp"
#include "device/cpu/simd.hpp"
// After simd.hpp, once for each target:
#include "device/cpu/load-inl.hpp"

#ifndef RUNG_DOT_CPU_06_REPRODUCIBLE
#define RUNG_DOT_CPU_06_REPRODUCIBLE
namespace rung::dot_cpu_06 {

// A long accumulator takes tens of cycles a term. In front of it stands an expansion: a few doubles
// whose sum is exact, because each addition passes its rounding error on to the next one; hardly
// anything falls off the last (Collange, Defour, Graillat and Iakymchuk, "Numerical reproducibility
// for the parallel reduction on multi- and many-core architectures", Parallel Computing 49, 2015).

/// Adds a chunk to the words of a LongAccumulator<Out>.
template <class In>
using ChunkFunction = void (*)(const In* x, const In* y, std::int64_t n, std::int64_t* words);

struct ChunkFunctions {
  ChunkFunction<float> f32;
  ChunkFunction<double> f64;
  ChunkFunction<bfloat16> bf16;
  ChunkFunction<float16> f16;
};

/// Doubles that hold a sum of products as these usually come: 16, 48 or 106 bits, and the range of
/// their exponents.
template <class In>
constexpr int usual_parts = sizeof(In) == 2   ? 1
                            : sizeof(In) == 4 ? 2
                                              : 3;

}  // namespace rung::dot_cpu_06
#endif

HWY_BEFORE_NAMESPACE();
namespace rung::dot_cpu_06::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::load;
using cpu::HWY_NAMESPACE::load_first;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr std::int64_t lanes = hn::MaxLanes(D());

// sum += term; returns the rounding error of that, exactly (Knuth, TAOCP 2, 4.2.2, theorem B).
HWY_INLINE V add(V& sum, V term) {
  const V total = hn::Add(sum, term);
  const V part = hn::Sub(total, sum);
  const V error = hn::Add(hn::Sub(sum, hn::Sub(total, part)), hn::Sub(term, part));
  sum = total;
  return error;
}

HWY_INLINE bool all_zero(V values) { return hn::AllTrue(D(), hn::Eq(values, hn::Zero(D()))); }

/// What the usual parts of a sum cannot hold: two parts more, and behind them the words. An object
/// of its own, so that the usual parts can stay in registers.
template <class Out>
class Rest {
 public:
  explicit Rest(std::int64_t* words) : words_(words) {}

  /// NaN is left of a term where a usual part is infinite or NaN, and says it already.
  HWY_NOINLINE void add_terms(V terms) {
    for (V& part : parts_) terms = add(part, terms);
    if (all_zero(terms)) return;
    for_lanes(terms, [this](double value, std::int64_t) {
      if (std::isfinite(value)) to_words(value);
    });
  }

  /// Adds the products of the lanes by integers.
  HWY_NOINLINE void add_products(V x, V y) {
    double ys[lanes];
    hn::StoreU(y, D(), ys);
    for_lanes(x, [&](double value, std::int64_t lane) {
      LongAccumulator<Out>::add_product(value, ys[lane], add_to_words());
    });
  }

  /// Leaves everything in the words, and there no carry.
  template <std::size_t usual>
  void finish(const V (&parts)[usual]) {
    double first[lanes];
    hn::StoreU(parts[0], D(), first);
    // Where the first part is not finite, the others are NaN of its making.
    const auto add_part = [&](V part) {
      for_lanes(part, [&](double value, std::int64_t lane) {
        if (std::isfinite(first[lane])) to_words(value);
      });
    };
    for (const double value : first) {
      if (!std::isfinite(value)) to_words(value);
    }
    for (const V& part : parts) add_part(part);
    for (const V& part : parts_) add_part(part);
    LongAccumulator<Out>::carry(words_);
  }

 private:
  template <class Body>
  static void for_lanes(V vector, const Body& body) {
    double values[lanes];
    hn::StoreU(vector, D(), values);
    for (std::int64_t lane = 0; lane < lanes; ++lane) body(values[lane], lane);
  }

  auto add_to_words() {
    return [this](int word, std::int64_t amount) { words_[word] += amount; };
  }
  void to_words(double value) { LongAccumulator<Out>::add_value(value, add_to_words()); }

  V parts_[2] = {hn::Zero(D()), hn::Zero(D())};
  std::int64_t* words_;
};

// Adds terms to the parts from `first` on; returns what is left of them, in general 0.
template <std::size_t usual>
HWY_INLINE V add_terms(V (&parts)[usual], V terms, std::size_t first) {
#pragma GCC unroll 8
  for (std::size_t p = first; p < usual; ++p) terms = add(parts[p], terms);
  return terms;
}

// Widened, the product of two floats, or of anything narrower, is exact.
template <std::size_t usual>
HWY_INLINE V add_products(V (&parts)[usual], Rest<float>& /*rest*/, V x, V y) {
  return add_terms(parts, hn::Mul(x, y), 0);
}

// That of two doubles has an error, which is a double unless the product is near the ends of the
// range (or 0, or not a number). Without a fused multiply-add there is no short way to it.
template <std::size_t usual>
HWY_INLINE V add_products(V (&parts)[usual], Rest<double>& rest, V x, V y) {
  const D d;
#if HWY_NATIVE_FMA
  V product = hn::Mul(x, y);
  V error = hn::MulSub(x, y, product);
  const V size = hn::Abs(product);
  const auto plain = hn::And(hn::Ge(size, hn::Set(d, 0x1p-900)), hn::Le(size, hn::Set(d, 0x1p900)));
  if (HWY_UNLIKELY(!hn::AllTrue(d, plain))) {
    rest.add_products(hn::IfThenZeroElse(plain, x), hn::IfThenZeroElse(plain, y));
    product = hn::IfThenElseZero(plain, product);
    error = hn::IfThenElseZero(plain, error);
  }
  const V left = add_terms(parts, product, 0);
  const V left_of_error = add_terms(parts, error, 1);
  if (HWY_UNLIKELY(!all_zero(left))) rest.add_terms(left);
  return left_of_error;
#else
  (void)parts;
  rest.add_products(x, y);
  return hn::Zero(d);
#endif
}

template <class In, class Out>
void add_chunk(const In* x, const In* y, std::int64_t n, std::int64_t* words) {
  const hn::Rebind<Out, D> narrow;
  const auto widened = [](auto v) HWY_ATTR {
    if constexpr (sizeof(Out) == sizeof(double)) {
      return v;
    } else {
      return hn::PromoteTo(D(), v);
    }
  };
  V parts[usual_parts<In>];
#pragma GCC unroll 8
  for (V& part : parts) part = hn::Zero(D());
  Rest<Out> rest(words);

  constexpr int vectors = 4;  // that share the question whether anything was left
  std::int64_t i = 0;
  for (; i + vectors * lanes <= n; i += vectors * lanes) {
    V left[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      left[v] = add_products(parts, rest, widened(load(narrow, x + i + v * lanes)),
                             widened(load(narrow, y + i + v * lanes)));
    }
    if (HWY_LIKELY(all_zero(hn::Or(hn::Or(left[0], left[1]), hn::Or(left[2], left[3]))))) continue;
    for (const V& terms : left) rest.add_terms(terms);
  }
  for (; i < n; i += lanes) {
    const std::int64_t count = std::min(lanes, n - i);
    rest.add_terms(add_products(parts, rest, widened(load_first(narrow, x + i, count)),
                                widened(load_first(narrow, y + i, count))));
  }
  rest.finish(parts);
}

ChunkFunctions functions() {
  return {add_chunk<float, float>, add_chunk<double, double>, add_chunk<bfloat16, float>,
          add_chunk<float16, float>};
}

}  // namespace rung::dot_cpu_06::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace dot_cpu_06 {

constexpr std::int64_t chunk = 1 << 16;
constexpr std::int64_t groups_per_thread = 8;

template <class In>
ChunkFunction<In> pick() {
  static const ChunkFunctions picked = RUNG_PICK_TARGET(functions)();
  if constexpr (std::is_same_v<In, float>) return picked.f32;
  if constexpr (std::is_same_v<In, double>) return picked.f64;
  if constexpr (std::is_same_v<In, bfloat16>) return picked.bf16;
  if constexpr (std::is_same_v<In, float16>) return picked.f16;
}

struct Reproducible {
  template <class In, class Out>
  static Out run(const Dot<In>& d, int threads) {
    constexpr std::int64_t words = LongAccumulator<Out>::words;
    const std::int64_t chunks = cpu::ceil_div(d.n, chunk);
    const std::int64_t groups =
        std::max<std::int64_t>(1, std::min(groups_per_thread * threads, chunks));
    std::int64_t* const sums = cpu::scratch<std::int64_t>((groups + 1) * words);
    std::fill_n(sums, (groups + 1) * words, 0);
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
    const auto add_chunk = pick<In>();
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

}  // namespace dot_cpu_06

extern const cpu::DotRung dot_cpu_06_reproducible =
    cpu::dot_rung<dot_cpu_06::Reproducible>(cpu::Strides::any);

}  // namespace rung
#endif  // HWY_ONCE
