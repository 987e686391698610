#pragma once
// The rungs that the library uses on CPUs for problems whose costs it does not compute (select.hpp). This is
// data; change it by measurement (`rung bench` prints the library's choice beside every rung). The last rule
// of each table, and of each dot mode, must match everything; a test checks it.

#include <cstdint>
#include <optional>

#include "backends/rungs/cpu.hpp"
#include "core/dtype_traits.hpp"
#include "device/cpu/isa.hpp"
#include "device/cpu/rung_descriptor.hpp"
#include "rung/matrix.hpp"
#include "select/rules.hpp"

namespace rung {

/// A rung with its name in the catalog.
template <class Rung>
struct Named {
  const char* id;
  const Rung* rung;
};
#define RUNG_GEMM(slug) \
  Named<cpu::GemmRung> { "gemm/cpu/" #slug, &gemm_cpu_##slug }
#define RUNG_DOT(slug) \
  Named<cpu::DotRung> { "dot/cpu/" #slug, &dot_cpu_##slug }

/// For work_per_thread: more threads never pay off.
inline constexpr double one_thread = any_work;

struct GemmRule {
  Dtypes dtypes = Dtypes::all();
  ComputeMode compute_mode = ComputeMode::standard;
  cpu::Isa needs = cpu::Isa::scalar;         // of the machine
  std::int64_t min_m = 0, max_m = any_size;  // inclusive, for the canonical form: C is row-major
  std::int64_t min_n = 0, max_n = any_size;
  std::int64_t min_k = 0, max_k = any_size;
  double max_work = any_work;           // m * n * k
  std::optional<Order> a = {}, b = {};  // storage order of A and B; empty: any
  double work_per_thread;               // multiply-adds that pay for one more thread
  Named<cpu::GemmRung> use;
};

struct DotRule {
  Dtypes dtypes = Dtypes::all();
  DotMode mode = DotMode::deterministic;  // no rule is specific to fast: see select.hpp
  std::int64_t max_n = any_size;
  double work_per_thread;  // elements that justify one more thread
  Named<cpu::DotRung> use;
  bool strides_are_unit = true;  // false: any strides
};

}  // namespace rung

namespace rung::tuned {

/// Sharing less work than this between two threads costs more than it gains.
inline constexpr double gemm_thread = 64 * 64 * 64;

inline constexpr Dtypes words = Dtypes::of(Dtype::f32, Dtype::i32);

inline constexpr Dtypes narrow = Dtypes::of(Dtype::bf16, Dtype::f16, Dtype::i8);

inline constexpr Dtypes halves = Dtypes::of(Dtype::bf16, Dtype::f16);

inline constexpr GemmRule gemm_rules[] = {
    // Dot-product instructions, or their substitutes. CPUs with no more than AVX2 widen 16 bits to f32.
    {.dtypes = narrow,
     .needs = cpu::Isa::avx512,
     .work_per_thread = gemm_thread,
     .use = RUNG_GEMM(dot_products)},
    {.dtypes = halves,
     .needs = cpu::Isa::avx2,
     .work_per_thread = gemm_thread,
     .use = RUNG_GEMM(widened)},
    {.dtypes = narrow, .work_per_thread = gemm_thread, .use = RUNG_GEMM(dot_products)},
    // Few tiles of C, and a large k.
    {.max_m = 256,
     .max_n = 256,
     .min_k = 4096,
     .work_per_thread = gemm_thread,
     .use = RUNG_GEMM(split_k)},
    // Skinny: each element of the large operand is used only a few times.
    {.max_m = 48, .work_per_thread = gemm_thread, .use = RUNG_GEMM(unpacked)},
    {.max_n = 48, .work_per_thread = gemm_thread, .use = RUNG_GEMM(unpacked)},
    // Small: everything stays in the L2 cache without packing.
    {.dtypes = words,
     .max_m = 640,
     .max_n = 640,
     .max_k = 640,
     .work_per_thread = gemm_thread,
     .use = RUNG_GEMM(unpacked)},
    {.max_m = 320,
     .max_n = 320,
     .max_k = 320,
     .work_per_thread = gemm_thread,
     .use = RUNG_GEMM(unpacked)},
    {.work_per_thread = gemm_thread, .use = RUNG_GEMM(cache_blocks)},
};

/// Mode batch_invariant: the order of sums of this rung depends on k alone.
inline constexpr GemmRule invariant_gemm_rules[] = {
    {.compute_mode = ComputeMode::batch_invariant,
     .work_per_thread = gemm_thread,
     .use = RUNG_GEMM(cache_blocks)},
};

inline constexpr DotRule dot_rules[] = {
    {.max_n = 1 << 16, .work_per_thread = one_thread, .use = RUNG_DOT(02_simd)},
    // In the caches, then in memory.
    {.max_n = 1 << 22, .work_per_thread = 1 << 15, .use = RUNG_DOT(03_threads)},
    {.work_per_thread = 1 << 17, .use = RUNG_DOT(05_streams)},
    {.work_per_thread = one_thread, .use = RUNG_DOT(01_accumulators), .strides_are_unit = false},
    {.mode = DotMode::compensated,
     .work_per_thread = 1 << 15,
     .use = RUNG_DOT(compensated),
     .strides_are_unit = false},
    {.mode = DotMode::reproducible,
     .work_per_thread = 1 << 15,
     .use = RUNG_DOT(reproducible),
     .strides_are_unit = false},
};

}  // namespace rung::tuned
