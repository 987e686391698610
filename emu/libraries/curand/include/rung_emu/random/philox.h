#pragma once
// Philox4x32-10 (J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), with the
// subsequences of cuRAND: subsequence n has n in the upper half of the counter.

#ifndef RUNG_EMU_RANDOM
#define RUNG_EMU_RANDOM static __host__ __device__ inline
#endif

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;  // how many numbers of `output` are used
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

RUNG_EMU_RANDOM uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * counter.x, b = 0xCD9E8D57ull * counter.z;
    counter =
        uint4{static_cast<unsigned int>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned int>(b),
              static_cast<unsigned int>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned int>(a)};
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

namespace rung_emu {

RUNG_EMU_RANDOM void add_to_counter(curandStatePhilox4_32_10* state, unsigned long long n) {
  const unsigned long long low = state->ctr.x | static_cast<unsigned long long>(state->ctr.y) << 32;
  const unsigned long long sum = low + n;
  state->ctr.x = static_cast<unsigned int>(sum);
  state->ctr.y = static_cast<unsigned int>(sum >> 32);
  if (sum < low && ++state->ctr.z == 0) ++state->ctr.w;
}

RUNG_EMU_RANDOM void refill(curandStatePhilox4_32_10* state) {
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}

RUNG_EMU_RANDOM unsigned int output(const curandStatePhilox4_32_10* state, unsigned int i) {
  return i == 0   ? state->output.x
         : i == 1 ? state->output.y
         : i == 2 ? state->output.z
                  : state->output.w;
}

}  // namespace rung_emu

RUNG_EMU_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
  state->STATE += static_cast<unsigned int>(n & 3);
  n /= 4;
  if (state->STATE > 3) {
    ++n;
    state->STATE -= 4;
  }
  rung_emu::add_to_counter(state, n);
  rung_emu::refill(state);
}
RUNG_EMU_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
  const unsigned long long high =
      (state->ctr.z | static_cast<unsigned long long>(state->ctr.w) << 32) + n;
  state->ctr.z = static_cast<unsigned int>(high);
  state->ctr.w = static_cast<unsigned int>(high >> 32);
  rung_emu::refill(state);
}

RUNG_EMU_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStatePhilox4_32_10* state) {
  *state = {};
  state->key = uint2{static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32)};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

RUNG_EMU_RANDOM unsigned int curand(curandStatePhilox4_32_10* state) {
  const unsigned int found = rung_emu::output(state, state->STATE);
  if (++state->STATE == 4) {
    state->STATE = 0;
    rung_emu::add_to_counter(state, 1);
    rung_emu::refill(state);
  }
  return found;
}

/// The next four at once.
RUNG_EMU_RANDOM uint4 curand4(curandStatePhilox4_32_10* state) {
  unsigned int found[4];
  for (int i = 0; i < 4; ++i) found[i] = curand(state);
  return uint4{found[0], found[1], found[2], found[3]};
}
