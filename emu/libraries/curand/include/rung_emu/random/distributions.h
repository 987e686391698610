#pragma once
// Uniform, normal, log-normal and Poisson numbers from any generator (cuRAND documentation,
// "Distributions"). Uniform numbers are in (0, 1].

namespace rung_emu {

constexpr float two_to_minus_32 = 2.3283064e-10f;
constexpr double two_to_minus_53 = 1.1102230246251565e-16;
constexpr float two_pi = 6.2831855f;
constexpr double two_pi_double = 6.2831853071795860;
constexpr double mrg_scale = 2.3283065498378288e-10;

RUNG_EMU_RANDOM float uniform_of(unsigned int x) {
  return static_cast<float>(x) * two_to_minus_32 + two_to_minus_32 / 2.0f;
}
RUNG_EMU_RANDOM double uniform_of(unsigned int x, unsigned int y) {
  const unsigned long long z =
      static_cast<unsigned long long>(x) ^ static_cast<unsigned long long>(y) << (53 - 32);
  return static_cast<double>(z) * two_to_minus_53 + two_to_minus_53 / 2;
}

/// Box and Muller's pair.
RUNG_EMU_RANDOM float2 normal_pair(unsigned int x, unsigned int y) {
  constexpr float scale = two_to_minus_32 * two_pi;
  const float u = uniform_of(x), v = static_cast<float>(y) * scale + scale / 2;
  const float s = sqrtf(-2.0f * logf(u));
  return float2{sinf(v) * s, cosf(v) * s};
}
RUNG_EMU_RANDOM double2 normal_pair(double u, double v) {
  const double s = sqrt(-2.0 * log(u)), angle = v * two_pi_double;
  return double2{sin(angle) * s, cos(angle) * s};
}

}  // namespace rung_emu

template <class State>
RUNG_EMU_RANDOM float curand_uniform(State* state) {
  return rung_emu::uniform_of(curand(state));
}
template <class State>
RUNG_EMU_RANDOM double curand_uniform_double(State* state) {
  const unsigned int x = curand(state), y = curand(state);
  return rung_emu::uniform_of(x, y);
}
/// A number from 32 bits, in cuRAND's interval.
RUNG_EMU_RANDOM double curand_uniform_double(curandStatePhilox4_32_10* state) {
  return curand(state) * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
RUNG_EMU_RANDOM float curand_uniform(curandStateMRG32k3a* state) {
  return static_cast<float>(curand_MRG32k3a(state) * rung_emu::mrg_scale);
}
RUNG_EMU_RANDOM double curand_uniform_double(curandStateMRG32k3a* state) {
  return curand_MRG32k3a(state) * rung_emu::mrg_scale;
}

namespace rung_emu {
template <class State>
RUNG_EMU_RANDOM float2 next_normal_pair(State* state) {
  const unsigned int x = curand(state), y = curand(state);
  return normal_pair(x, y);
}
RUNG_EMU_RANDOM float2 next_normal_pair(curandStateMRG32k3a* state) {
  const float u = curand_uniform(state), v = curand_uniform(state) * two_pi;
  const float s = sqrtf(-2.0f * logf(u));
  return float2{sinf(v) * s, cosf(v) * s};
}
template <class State>
RUNG_EMU_RANDOM double2 next_normal_pair_double(State* state) {
  const double u = curand_uniform_double(state), v = curand_uniform_double(state);
  return normal_pair(u, v);
}
}  // namespace rung_emu

/// Normal numbers come in pairs: the second waits in the state.
template <class State>
RUNG_EMU_RANDOM float curand_normal(State* state) {
  if (state->boxmuller_flag != 0) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = rung_emu::next_normal_pair(state);
  state->boxmuller_extra = pair.y;
  state->boxmuller_flag = 1;
  return pair.x;
}
template <class State>
RUNG_EMU_RANDOM double curand_normal_double(State* state) {
  if (state->boxmuller_flag_double != 0) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = rung_emu::next_normal_pair_double(state);
  state->boxmuller_extra_double = pair.y;
  state->boxmuller_flag_double = 1;
  return pair.x;
}
template <class State>
RUNG_EMU_RANDOM float2 curand_normal2(State* state) {
  return rung_emu::next_normal_pair(state);
}
template <class State>
RUNG_EMU_RANDOM double2 curand_normal2_double(State* state) {
  return rung_emu::next_normal_pair_double(state);
}
template <class State>
RUNG_EMU_RANDOM float curand_log_normal(State* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <class State>
RUNG_EMU_RANDOM double curand_log_normal_double(State* state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
template <class State>
RUNG_EMU_RANDOM float2 curand_log_normal2(State* state, float mean, float deviation) {
  const float2 pair = curand_normal2(state);
  return float2{expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};
}
template <class State>
RUNG_EMU_RANDOM double2 curand_log_normal2_double(State* state, double mean, double deviation) {
  const double2 pair = curand_normal2_double(state);
  return double2{exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)};
}
/// Knuth's product of uniform numbers, for sums of at most 32 at a time.
template <class State>
RUNG_EMU_RANDOM unsigned int curand_poisson(State* state, double lambda) {
  unsigned int count = 0;
  while (lambda > 0) {
    const double part = lambda < 32 ? lambda : 32;
    const double least = exp(-part);
    for (double product = curand_uniform_double(state); product > least; ++count) {
      product *= curand_uniform_double(state);
    }
    lambda -= part;
  }
  return count;
}

RUNG_EMU_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return float4{rung_emu::uniform_of(x.x), rung_emu::uniform_of(x.y), rung_emu::uniform_of(x.z),
                rung_emu::uniform_of(x.w)};
}
RUNG_EMU_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return double2{rung_emu::uniform_of(x.x, x.y), rung_emu::uniform_of(x.z, x.w)};
}
RUNG_EMU_RANDOM float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  const float2 a = rung_emu::normal_pair(x.x, x.y), b = rung_emu::normal_pair(x.z, x.w);
  return float4{a.x, a.y, b.x, b.y};
}
RUNG_EMU_RANDOM double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
  const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
  return double4{a.x, a.y, b.x, b.y};
}
RUNG_EMU_RANDOM double4 curand_normal4_double(curandStatePhilox4_32_10* state) {
  const double4 u = curand_uniform4_double(state);
  const double2 a = rung_emu::normal_pair(u.x, u.y), b = rung_emu::normal_pair(u.z, u.w);
  return double4{a.x, a.y, b.x, b.y};
}
RUNG_EMU_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean,
                                          float deviation) {
  const float4 x = curand_normal4(state);
  return float4{expf(mean + deviation * x.x), expf(mean + deviation * x.y),
                expf(mean + deviation * x.z), expf(mean + deviation * x.w)};
}
RUNG_EMU_RANDOM double4 curand_log_normal4_double(curandStatePhilox4_32_10* state, double mean,
                                                  double deviation) {
  const double4 x = curand_normal4_double(state);
  return double4{exp(mean + deviation * x.x), exp(mean + deviation * x.y),
                 exp(mean + deviation * x.z), exp(mean + deviation * x.w)};
}
RUNG_EMU_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10* state, double lambda) {
  const unsigned int x = curand_poisson(state, lambda), y = curand_poisson(state, lambda),
                     z = curand_poisson(state, lambda), w = curand_poisson(state, lambda);
  return uint4{x, y, z, w};
}
