#pragma once
// Random valid kernels: arithmetic of every type, conversions, comparisons, bits, packed types,
// shared memory, warp operations, branches and loops. Their results are fully determined.

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rung::vgpu {

/// One instruction. Operands are "%r3" and the like, or numbers.
struct PtxStep {
  std::string guard;  // "", "%p1" or "!%p1"
  std::string mnemonic;
  std::vector<std::string> operands;

  std::string text() const;
};

struct PtxKernel {
  static constexpr unsigned threads = 64, blocks = 2;
  /// The number of registers of each kind per thread. The kernel `k` loads them from the input,
  /// doublewords first, and stores them in the same order.
  static constexpr int halves = 6, words = 8, doublewords = 6, predicates = 4;
  static constexpr unsigned input_bytes = 128;
  static constexpr unsigned output_bytes = 128;

  std::string text;
  std::vector<std::uint8_t> input;
  /// The body if ptx_reference.hpp implements all of it; otherwise empty.
  std::vector<PtxStep> steps;
};

/// The kernel with that number.
PtxKernel random_kernel(std::uint64_t number);

/// Every form of ptx_forms.hpp with its alternatives spelled out: "fma.rz.ftz.f32 r r r F".
std::vector<std::string> all_forms();

/// How the instructions of a kernel of forms follow each other.
struct FormsLayout {
  bool apart =
      false;  // a read of the clock between any two, which neither handlers nor machine code merge
  bool loop = false;  // three times
};

/// A kernel with several instances of each form among loads from shared memory and f32 FMAs, so that
/// they may become a superinstruction. The same number gives the same operands in each layout.
PtxKernel kernel_of_forms(std::span<const std::string> forms, std::uint64_t number,
                          const FormsLayout& layout);

/// Bit patterns of `bytes` bytes at the edges of the number types: zeros, infinities, NaN with
/// payloads, subnormal and largest numbers, powers of two, and their neighbours.
std::uint64_t edge_value(std::mt19937_64& random, int bytes);

}  // namespace rung::vgpu
