#pragma once
// Which accesses to shared memory ptxas issues for those that PTX has: it joins neighbours into
// accesses of up to 16 bytes, and leaves out what nobody reads.
//
// The rules were found by giving ptxas (CUDA 13.0, sm_80 and sm_90: both alike) small kernels and
// reading its machine code; a test compares the two (tests/vgpu/merge_machine_code_test.cpp).
//
// - Elements of 4 and 8 bytes join within windows of 16 aligned bytes, scalar elements of 2 bytes
//   within windows of 8; bytes do not. Elements of different size do not join. Vectors of smaller
//   elements count as elements of 4 bytes.
// - Loads take a whole window if more than half of it is wanted, gaps included, else they look at
//   its halves. Stores need all of it.
// - A vector load is first taken apart, and elements whose register nobody reads are dropped.
// - The alignment has to be known: from the array's place and the arithmetic of the index, or from
//   a vector access by the same sum.
// - The order of loads does not matter, nor do other instructions between them, global accesses
//   included; but all that writes or synchronises shared memory does: every store to it, whatever
//   its address, barriers, fences, atomics, stores without a state space.
// - Stores join if no other shared access, by whatever address, is between; but none that is
//   narrower than the first of the window.
// - Guarded and volatile accesses stay alone, as do 16-bit loads whose value is used as an integer.
//
// Where the model differs: what ptxas changes before (loops that it unrolls, branches that it turns
// into guards, common and dead code that PTX still has) is not modelled, nor are stores that others
// overwrite at once and loads of what has just been stored; and a guarded load is counted even
// where its neighbours' access already fetches its element.
//
// Global accesses are never joined; but of their vector loads, too, ptxas drops elements that
// nobody reads.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/program/addresses.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// One access as it is issued.
struct IssuedAccess {
  std::size_t leader = 0;  // the first instruction that it serves, by index in Function::body
  std::int64_t shift = 0;  // from the leader's address to the access's, in bytes
  int bytes = 0;           // of a lane: 1 to 16
  std::vector<std::size_t> members;  // all instructions that it serves, the leader included
};

class MergeModel {
 public:
  /// `shared_offset` says where shared arrays lie: their alignment follows from it. The function
  /// must outlive the model.
  MergeModel(const ptx::Function& function, SharedOffset shared_offset);

  /// The accesses by ld.shared and st.shared of a basic block, `count` instructions from `first`,
  /// by leader. An instruction may be in none (nobody reads what it loads) and in several.
  std::vector<IssuedAccess> issued(std::size_t first, std::size_t count) const;

 private:
  const ptx::Function& function_;
  Addresses addresses_;
  std::vector<bool> is_read_;          // by register
  std::vector<bool> used_as_integer_;  // by register of 16 bits
};

}  // namespace rung::vgpu
