#pragma once
// A product, one of several in a call, that does not fail for lack of scratch memory.

#include <new>

#include "backends/rungs/cpu.hpp"
#include "core/problem.hpp"
#include "select/cpu/select.hpp"

namespace rung::cpu {

/// The calling thread must have reserved its last resort (device/cpu/workspace.hpp). If there is
/// too little memory for the selected rung, cache_blocks computes tile by tile. In mode batch_invariant
/// it is the selected rung anyway, so the bits are the same.
template <class In, class Out>
void multiply_surely(const Gemm<In, Out>& g, const GemmShape& shape, int threads) {
  try {
    const GemmChoice choice = choose_gemm(shape, threads);
    choice.rung->function<In, Out>()(g, choice.threads);
  } catch (const std::bad_alloc&) {
    gemm_cpu_cache_blocks.function<In, Out>()(g, 1);
  }
}

}  // namespace rung::cpu
