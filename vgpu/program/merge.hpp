#pragma once
// A model of how ptxas merges shared-memory accesses: it joins neighbours to accesses of up to 16
// bytes, and drops loads of values that are never read.
//
// The rules were found by compiling small kernels with ptxas (CUDA 13.0; sm_80 and sm_90 agree) and
// reading the machine code. A test compares the model with ptxas
// (vgpu/tests/merge_machine_code_test.cpp).
//
// - Elements of 4 and 8 bytes join within aligned windows of 16 bytes, scalar elements of 2 bytes
//   within windows of 8. Single bytes do not join, nor do elements of different sizes. Vectors of
//   smaller elements count as elements of 4 bytes.
// - Loads use a whole window if more than half of it is needed, including gaps; otherwise the rule
//   applies to its halves. Stores must cover the whole window.
// - A vector load is split first, and elements whose register is never read are dropped.
// - The alignment must be known: from the offset of the array and the arithmetic of the index, or
//   from a vector access with the same sum.
// - The order of loads does not matter, nor do other instructions between them, including global
//   accesses. Anything that writes or synchronises shared memory separates them: every store to it,
//   at any address, barriers, fences, atomics, and stores without a state space.
// - Stores join if no other shared access is between them, at any address. A store that is narrower
//   than the first of the window does not join.
// - Guarded and volatile accesses are not merged, nor are 16-bit loads whose value is used as an
//   integer.
//
// The model omits earlier optimisations of ptxas (loop unrolling, predication, elimination of
// common and dead code), stores that are overwritten immediately, and loads of values that were
// just stored. A guarded load is counted even if a neighbour's access already fetches its element.
//
// Global accesses are never merged, but ptxas also drops elements of their vector loads that are
// never read.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/program/addresses.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// An access as ptxas issues it.
struct IssuedAccess {
  std::size_t leader = 0;            // first instruction that it serves, by index in Function::body
  std::int64_t shift = 0;            // bytes from the leader's address to that of the access
  int bytes = 0;                     // per lane: 1 to 16
  std::vector<std::size_t> members;  // all instructions that it serves, including the leader
};

class MergeModel {
 public:
  /// `shared_offset`: returns the offsets of shared arrays, which determine their alignment. The
  /// function must outlive the model.
  MergeModel(const ptx::Function& function, SharedOffset shared_offset);

  /// Returns the issued accesses for ld.shared and st.shared in a basic block of `count`
  /// instructions starting at `first`, by leader. An instruction may be in several, or in none if
  /// its value is never read.
  std::vector<IssuedAccess> issued(std::size_t first, std::size_t count) const;

 private:
  const ptx::Function& function_;
  Addresses addresses_;
  std::vector<bool> is_read_;          // by register
  std::vector<bool> used_as_integer_;  // by 16-bit register
};

}  // namespace rung::vgpu
