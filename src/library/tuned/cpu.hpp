#pragma once
// The rungs that the library uses on CPUs: data, to be changed by measurement (`rung bench` prints
// the library's choice beside every rung). The last rule of each table, and of each dot mode, must
// fit everything; a test checks it.

#include "library/rules.hpp"

namespace rung::tuned {

inline constexpr GemmRule gemm_rules[] = {
    {.work_per_thread = 64 * 64 * 64, .use = RUNG_GEMM(06, cache_blocks)},
};

inline constexpr DotRule dot_rules[] = {
    {.max_n = 1 << 17, .work_per_thread = one_thread, .use = RUNG_DOT(02, simd)},
    {.work_per_thread = 1 << 16, .use = RUNG_DOT(03, threads)},
    {.work_per_thread = one_thread, .use = RUNG_DOT(01, accumulators)},
    {.mode = DotMode::compensated, .work_per_thread = 1 << 15, .use = RUNG_DOT(04, compensated)},
};

}  // namespace rung::tuned
