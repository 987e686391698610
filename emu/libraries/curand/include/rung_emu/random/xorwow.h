#pragma once
// XORWOW (G. Marsaglia, "Xorshift RNGs", 2003), with the seeding and the subsequences of cuRAND
// (cuRAND documentation, "Device API Overview"): subsequence n begins 2^67 n numbers later.

#include "rung_emu/random/xorwow_tables.h"

#ifndef RUNG_EMU_RANDOM
#define RUNG_EMU_RANDOM static __host__ __device__ inline
#endif

struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;

namespace rung_emu {

constexpr unsigned int weyl_step = 362437;

RUNG_EMU_RANDOM void step(curandStateXORWOW* state) {
  const unsigned int t = state->v[0] ^ (state->v[0] >> 2);
  for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
  state->v[4] = (state->v[4] ^ (state->v[4] << 4)) ^ (t ^ (t << 1));
}

/// Jumps: the new words are the sum of those words ahead that the polynomial's coefficients name
/// (H. Haramoto et al., "Efficient Jump Ahead for F2-Linear Random Number Generators", 2008).
RUNG_EMU_RANDOM void jump(curandStateXORWOW* state, const unsigned int* polynomial) {
  unsigned int sum[5] = {};
  for (int i = 0; i < 160; ++i) {
    if ((polynomial[i / 32] >> (i % 32) & 1u) != 0) {
      for (int j = 0; j < 5; ++j) sum[j] ^= state->v[j];
    }
    step(state);
  }
  for (int j = 0; j < 5; ++j) state->v[j] = sum[j];
}

/// By the hexadecimal digits of n.
RUNG_EMU_RANDOM void jump_digits(curandStateXORWOW* state, unsigned long long n,
                                 const unsigned int* table) {
  for (int digit = 0; n != 0; ++digit, n >>= 4) {
    const int value = static_cast<int>(n & 15);
    if (value != 0) jump(state, table + 5 * (15 * digit + value - 1));
  }
}

}  // namespace rung_emu

RUNG_EMU_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
  static const unsigned int table[] = RUNG_EMU_XORWOW_SEQUENCES;
  rung_emu::jump_digits(state, n, table);
}
RUNG_EMU_RANDOM void skipahead(unsigned long long n, curandStateXORWOW* state) {
  static const unsigned int table[] = RUNG_EMU_XORWOW_OFFSETS;
  rung_emu::jump_digits(state, n, table);
  state->d += rung_emu::weyl_step * static_cast<unsigned int>(n);
}

RUNG_EMU_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStateXORWOW* state) {
  const unsigned int s0 = static_cast<unsigned int>(seed) ^ 0xaad26b49u;
  const unsigned int s1 = static_cast<unsigned int>(seed >> 32) ^ 0xf7dcefddu;
  const unsigned int t0 = 1099087573u * s0, t1 = 2591861531u * s1;
  *state = {6615241u + t1 + t0,
            {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0},
            0,
            0,
            0,
            0};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

RUNG_EMU_RANDOM unsigned int curand(curandStateXORWOW* state) {
  rung_emu::step(state);
  state->d += rung_emu::weyl_step;
  return state->v[4] + state->d;
}
