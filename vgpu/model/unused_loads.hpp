#pragma once
// Loads whose value some threads do not use. Triton loads a tile with fewer elements than the block has threads
// several times, and lets one of the threads store the result: the others' stores are guarded by a predicate of their
// index. Such a thread's load may race with the store, and nothing depends on what it reads.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace rung::vgpu {

/// A value that a thread computes from its index and constants.
struct IndexValue {
  enum class Op : std::uint8_t {
    unknown,
    constant,
    tid,  // tid: of dimension `bits`
    bit_and,
    bit_or,
    bit_xor,
    left,
    right,
    add,
    subtract,
    multiply,
    equal,
    less,
    less_signed,
    negate,  // of a predicate
  };
  Op op = Op::unknown;
  int first = -1, second = -1;  // operands: earlier positions in UnusedLoads::values; -1: unknown
  std::uint32_t bits = 0;
  bool depends = false;  // on the thread's index
};

/// A store that a loaded value reaches, which executes where its guard has this value.
struct GuardedStore {
  int guard;  // a position in UnusedLoads::values
  bool negated;
};

struct UnusedLoads {
  std::vector<IndexValue> values;
  /// By position in Function::body, the stores that the load's value reaches. Loads with other uses, and those whose
  /// stores execute in every thread, are not in it.
  std::map<std::uint32_t, std::vector<GuardedStore>> stores;

  /// True if a thread with this index uses nothing of what the load reads.
  bool is_unused(std::uint32_t load, const std::array<std::uint32_t, 3>& tid) const;
};

}  // namespace rung::vgpu
