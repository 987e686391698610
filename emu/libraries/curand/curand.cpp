// cuRAND's host API. The numbers are computed on the CPU by the same code as on the device, in the
// default order of cuRAND's documentation: number n is number n / t of subsequence n mod t, with t
// = 4096 for XORWOW and 81920 for MRG32k3a.

#include "curand.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <type_traits>
#include <vector>

#include "emu/runtime/library_call.hpp"
#include "emu/runtime/runtime.hpp"

// The functions of the device, as ones of the host.
#define RUNG_EMU_RANDOM [[maybe_unused]] static inline
// clang-format off
#include "rung_emu/random/xorwow.h"
#include "rung_emu/random/philox.h"
#include "rung_emu/random/mrg32k3a.h"
#include "rung_emu/random/distributions.h"
// clang-format on

struct curandGenerator_st {
  curandRngType_t type;
  bool is_host;
  cudaStream_t stream = nullptr;
  unsigned long long seed = 0, offset = 0;
  unsigned long long drawn = 0;  // numbers that were asked for
  std::vector<curandStateXORWOW> xorwow = {};
  std::vector<curandStateMRG32k3a> mrg = {};
  std::vector<curandStatePhilox4_32_10> philox = {};
};

namespace {

template <class State>
void seed_states(std::vector<State>& states, std::size_t count, const curandGenerator_st& of) {
  if (!states.empty()) return;
  states.resize(count);
  curand_init(of.seed, 0, of.offset / count, &states[0]);
  for (std::size_t i = 1; i < count; ++i) {
    states[i] = states[i - 1];
    if constexpr (std::is_same_v<State, curandStateMRG32k3a>) {
      skipahead_subsequence(1, &states[i]);
    } else {
      skipahead_sequence(1, &states[i]);
    }
  }
}

/// draw(state) for each number, in order.
template <class T, class Draw>
void draw_all(curandGenerator_st& of, std::vector<T>& numbers, const Draw& draw) {
  const auto draw_from = [&](auto& states) {
    for (T& number : numbers) number = draw(&states[of.drawn++ % states.size()]);
  };
  switch (of.type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW: seed_states(of.xorwow, 4096, of); return draw_from(of.xorwow);
    case CURAND_RNG_PSEUDO_MRG32K3A: seed_states(of.mrg, 81920, of); return draw_from(of.mrg);
    default: seed_states(of.philox, 1, of); return draw_from(of.philox);
  }
}

template <class T, class Draw>
curandStatus_t generate(curandGenerator_t generator, T* to, std::size_t n, const Draw& draw) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  const rung::emu::LibraryCall library("cuRAND call");
  try {
    std::vector<T> numbers(n);
    draw_all(*generator, numbers, draw);
    if (generator->is_host) {
      std::copy(numbers.begin(), numbers.end(), to);
      return CURAND_STATUS_SUCCESS;
    }
    const cudaError_t error = cudaMemcpyAsync(to, numbers.data(), n * sizeof(T),
                                              cudaMemcpyHostToDevice, generator->stream);
    return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
}

/// Sobol's sequences are not here.
bool is_known(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: return true;
    default: return false;
  }
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool is_host) {
  if (generator == nullptr) return CURAND_STATUS_INTERNAL_ERROR;
  if (!is_known(type)) return CURAND_STATUS_TYPE_ERROR;
  *generator = new (std::nothrow) curandGenerator_st{type, is_host};
  return *generator == nullptr ? CURAND_STATUS_ALLOCATION_FAILED : CURAND_STATUS_SUCCESS;
}

curandStatus_t restart(curandGenerator_t generator, unsigned long long seed,
                       unsigned long long offset) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  *generator =
      curandGenerator_st{generator->type, generator->is_host, generator->stream, seed, offset};
  generator->drawn = offset;
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
  *version = 10305;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  return restart(generator, seed, generator == nullptr ? 0 : generator->offset);
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return restart(generator, generator == nullptr ? 0 : generator->seed, offset);
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  const bool is_known =
      ordering >= CURAND_ORDERING_PSEUDO_BEST && ordering <= CURAND_ORDERING_PSEUDO_LEGACY;
  return is_known ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* to, size_t n) {
  return generate(generator, to, n, [](auto* state) { return curand(state); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* to, size_t n) {
  return generate(generator, to, n, [](auto* state) { return curand_uniform(state); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* to, size_t n) {
  return generate(generator, to, n, [](auto* state) { return curand_uniform_double(state); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* to, size_t n, float mean,
                                    float deviation) {
  return generate(generator, to, n,
                  [=](auto* state) { return mean + deviation * curand_normal(state); });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* to, size_t n,
                                          double mean, double deviation) {
  return generate(generator, to, n,
                  [=](auto* state) { return mean + deviation * curand_normal_double(state); });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* to, size_t n, float mean,
                                       float deviation) {
  return generate(generator, to, n,
                  [=](auto* state) { return curand_log_normal(state, mean, deviation); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* to, size_t n,
                                             double mean, double deviation) {
  return generate(generator, to, n,
                  [=](auto* state) { return curand_log_normal_double(state, mean, deviation); });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* to, size_t n,
                                     double lambda) {
  return generate(generator, to, n, [=](auto* state) { return curand_poisson(state, lambda); });
}

}  // extern "C"
