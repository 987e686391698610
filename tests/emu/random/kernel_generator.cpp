#include "random/kernel_generator.hpp"

#include <fmt/format.h>

namespace rung {
namespace {

// Code that the host and device texts share, and the host's model of a block's threads.
constexpr const char* prologue = R"(
#ifdef __clang__
#pragma clang diagnostic ignored "-Weverything"
// The host's functions need not be fast, but compiled fast.
#define PLAIN_BEGIN _Pragma("clang optimize off")
#define PLAIN_END _Pragma("clang optimize on")
#else
#define PLAIN_BEGIN
#define PLAIN_END
#endif

#include <cstdio>
#include <cstdlib>
#include <vector>

#ifdef __CUDA_ARCH__
#define TRAP __trap()
#else
#define TRAP std::abort()
#endif
#define NEVER __builtin_unreachable()

struct Thread {
  unsigned v0, v1, v2, v3;
  bool dead, chosen;
};
struct Block {
  std::vector<Thread> threads;
  unsigned s[128];
  int number;
};
constexpr unsigned out_of_the_way = 0x9E3779B9u;

// Calls f(first, last) for the threads of each warp.
template <class F>
void each_warp(Block& block, F f) {
  const int size = static_cast<int>(block.threads.size());
  for (int first = 0; first < size; first += 32) f(first, first + 32 < size ? first + 32 : size);
}
template <class F>
void each_thread(Block& block, F f) {
  for (int tid = 0; tid < static_cast<int>(block.threads.size()); ++tid) {
    if (!block.threads[tid].dead) f(block.threads[tid], tid);
  }
}
template <class Source>
void host_shuffle(Block& block, Source source) {
  each_warp(block, [&](int first, int last) {
    std::vector<unsigned> given;
    for (int t = first; t < last; ++t) given.push_back(block.threads[t].v1);
    for (int t = first; t < last; ++t) {
      const int from = first + source(t - first);
      if (block.threads[t].dead || from >= last || block.threads[from].dead) continue;
      block.threads[t].v0 += given[from - first];
    }
  });
}
template <class Combine>
void host_reduce(Block& block, unsigned start, Combine combine, bool chosen_only) {
  each_warp(block, [&](int first, int last) {
    unsigned result = start;
    const auto takes_part = [&](int t) {
      return !block.threads[t].dead && (!chosen_only || block.threads[t].chosen);
    };
    for (int t = first; t < last; ++t) {
      if (takes_part(t)) result = combine(result, block.threads[t].v1);
    }
    for (int t = first; t < last; ++t) {
      if (takes_part(t)) block.threads[t].v0 += result;
    }
  });
}
inline void host_ballot(Block& block, unsigned bit) {
  each_warp(block, [&](int first, int last) {
    unsigned votes = 0;
    for (int t = first; t < last; ++t) {
      if (!block.threads[t].dead && (block.threads[t].v2 >> bit & 1)) votes |= 1u << (t - first);
    }
    for (int t = first; t < last; ++t) {
      if (!block.threads[t].dead) block.threads[t].v3 ^= votes;
    }
  });
}
)";

// Helpers of puns: types without padding, and conversions of values from and to bits.
constexpr const char* pun_prologue = R"(
#include <cuda_fp16.h>
#include <cstring>

struct Halves { unsigned short low, high; };
struct Mixed { float first; unsigned short second; unsigned char third, fourth; };
__device__ alignas(16) unsigned char global_room[2 * 128 * 32];

template <class T>
__host__ __device__ T made_of(unsigned a, unsigned b) {
  const unsigned words[4] = {a, b, a ^ b, a + b};
  T made;
  memcpy(&made, words, sizeof made);
  return made;
}
template <class T>
__host__ __device__ unsigned folded(T value) {
  unsigned words[4] = {};
  memcpy(words, &value, sizeof value);
  return words[0] + 3 * words[1] + 5 * words[2] + 7 * words[3];
}
// The pointers may be one.
template <class A, class B>
__host__ __device__ __noinline__ unsigned set_both(A* a, B* b, unsigned x, unsigned y) {
  *a = made_of<A>(x, y);
  *b = made_of<B>(y, x);
  return folded(*a);
}
)";

constexpr const char* epilogue = R"(
#define CHECK(call)                                                                \
  if (const cudaError_t error = call) {                                            \
    std::printf("%s: %s\n", #call, cudaGetErrorString(error));                     \
    return 1;                                                                      \
  }

int main() {
  constexpr int blocks = 2, most = blocks * 128;
  constexpr int sizes[] = {64, 32, 96, 48, 128, 33, 1};
  unsigned* in;
  unsigned* out;
  CHECK(cudaMalloc(&in, 64 * sizeof(unsigned)));
  CHECK(cudaMalloc(&out, most * sizeof(unsigned)));
  unsigned random = 12345;
  int runs = 0, wrong = 0;
  for (const Case& test : cases) {
    for (int run = 0; run < runs_of_each; ++run, ++runs) {
      std::vector<unsigned> given(64), found(most, 7u), expected(most, 7u);
      for (unsigned& value : given) {
        random = random * 1664525u + 1013904223u;
        value = run % 3 == 2 ? random >> 28 : random >> 8;
      }
      const int threads = sizes[runs % 7];
      CHECK(cudaMemcpy(in, given.data(), 64 * sizeof(unsigned), cudaMemcpyHostToDevice));
      CHECK(cudaMemcpy(out, found.data(), most * sizeof(unsigned), cudaMemcpyHostToDevice));
      test.kernel<<<blocks, threads>>>(in, out, 5000);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(found.data(), out, most * sizeof(unsigned), cudaMemcpyDeviceToHost));
      for (int block = 0; block < blocks; ++block) {
        Block here{std::vector<Thread>(threads), {}, block};
        test.host(here, given.data(), expected.data(), 5000);
      }
      int at = 0;
      while (at < most && found[at] == expected[at]) ++at;
      if (at == most) continue;
      if (++wrong <= 5) {
        std::printf("%s, run %d, %d threads: out[%d] is %u, right is %u\n", test.name, run, threads,
                    at, found[at], expected[at]);
      }
    }
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  std::printf("%d runs, %d wrong\n", runs, wrong);
  return wrong != 0;
}
)";

}  // namespace

std::string random_kernels(std::uint64_t seed, int kernels, int runs_of_each, Steps steps) {
  KernelText text(seed, steps);
  std::string program = fmt::format("// Seed {}.\n{}", seed, prologue);
  if (steps == Steps::puns) program += pun_prologue;
  for (int i = 0; i < kernels; ++i) program += text.kernel(fmt::format("k{}", i));
  program +=
      "\nstruct Case {\n  const char* name;\n"
      "  void (*kernel)(const unsigned*, unsigned*, unsigned);\n"
      "  void (*host)(Block&, const unsigned*, unsigned*, unsigned);\n};\n"
      "constexpr Case cases[] = {\n";
  for (int i = 0; i < kernels; ++i)
    program += fmt::format("    {{\"k{0}\", k{0}, host_k{0}}},\n", i);
  return program + fmt::format("}};\nconstexpr int runs_of_each = {};\n", runs_of_each) + epilogue;
}

}  // namespace rung
