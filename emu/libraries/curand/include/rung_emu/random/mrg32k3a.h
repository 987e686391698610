#pragma once
// MRG32k3a (P. L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random
// Number Generators", 1999), with the seeding of cuRAND; subsequences are 2^76 numbers long.

#ifndef RUNG_EMU_RANDOM
#define RUNG_EMU_RANDOM static __host__ __device__ inline
#endif

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

namespace rung_emu {

constexpr unsigned long long mrg_m1 = 4294967087u, mrg_m2 = 4294944443u;

struct MrgMatrix {
  unsigned long long a[3][3];
};

RUNG_EMU_RANDOM MrgMatrix product(const MrgMatrix& x, const MrgMatrix& y, unsigned long long m) {
  MrgMatrix sum{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) sum.a[i][j] = (sum.a[i][j] + x.a[i][k] * y.a[k][j] % m) % m;
    }
  }
  return sum;
}

/// The state after matrix^n steps.
RUNG_EMU_RANDOM void advance(unsigned int* state, MrgMatrix matrix, unsigned long long n,
                             unsigned long long m) {
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) {
      unsigned int next[3];
      for (int i = 0; i < 3; ++i) {
        unsigned long long sum = 0;
        for (int k = 0; k < 3; ++k) sum = (sum + matrix.a[i][k] * state[k] % m) % m;
        next[i] = static_cast<unsigned int>(sum);
      }
      for (int i = 0; i < 3; ++i) state[i] = next[i];
    }
    if (n > 1) matrix = product(matrix, matrix, m);
  }
}

}  // namespace rung_emu

RUNG_EMU_RANDOM void skipahead(unsigned long long n, curandStateMRG32k3a* state) {
  using namespace rung_emu;
  advance(state->s1, {{{0, 1, 0}, {0, 0, 1}, {mrg_m1 - 810728, 1403580, 0}}}, n, mrg_m1);
  advance(state->s2, {{{0, 1, 0}, {0, 0, 1}, {mrg_m2 - 1370589, 0, 527612}}}, n, mrg_m2);
}
// With the step matrices to the power 2^76 (the same author's RngStreams has them, too).
RUNG_EMU_RANDOM void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) {
  using namespace rung_emu;
  advance(state->s1,
          {{{82758667u, 1871391091u, 4127413238u},
            {3672831523u, 69195019u, 1871391091u},
            {3672091415u, 3528743235u, 69195019u}}},
          n, mrg_m1);
  advance(state->s2,
          {{{1511326704u, 3759209742u, 1610795712u},
            {4292754251u, 1511326704u, 3889917532u},
            {3859662829u, 4292754251u, 3708466080u}}},
          n, mrg_m2);
}

RUNG_EMU_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStateMRG32k3a* state) {
  *state = {};
  const unsigned int x1 = static_cast<unsigned int>(seed) ^ 0x55555555u;
  const unsigned int x2 = static_cast<unsigned int>(seed >> 32) ^ 0xAAAAAAAAu;
  for (int i = 0; i < 3; ++i) {
    const unsigned long long one = i % 2 == 0 ? x1 : x2, other = i % 2 == 0 ? x2 : x1;
    state->s1[i] = static_cast<unsigned int>(seed == 0 ? 12345 : one * 12345 % rung_emu::mrg_m1);
    state->s2[i] = static_cast<unsigned int>(seed == 0 ? 12345 : other * 12345 % rung_emu::mrg_m2);
  }
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
}

/// A number from 1 to m1.
RUNG_EMU_RANDOM double curand_MRG32k3a(curandStateMRG32k3a* state) {
  using namespace rung_emu;
  const unsigned long long p1 =
      (1403580ull * state->s1[1] + 810728ull * (mrg_m1 - state->s1[0])) % mrg_m1;
  const unsigned long long p2 =
      (527612ull * state->s2[2] + 1370589ull * (mrg_m2 - state->s2[0])) % mrg_m2;
  for (int i = 0; i < 2; ++i) {
    state->s1[i] = state->s1[i + 1];
    state->s2[i] = state->s2[i + 1];
  }
  state->s1[2] = static_cast<unsigned int>(p1);
  state->s2[2] = static_cast<unsigned int>(p2);
  return static_cast<double>(p1 <= p2 ? p1 + mrg_m1 - p2 : p1 - p2);
}

RUNG_EMU_RANDOM unsigned int curand(curandStateMRG32k3a* state) {
  return static_cast<unsigned int>(curand_MRG32k3a(state) * 1.000000048662);
}
