#pragma once
// The pipelined instructions of tcgen05: mma, cp, shift, and commit, which signals their completion (PTX ISA,
// 9.7.16.6, "Memory consistency model", 9.7.16.9 to 9.7.16.12).
//
// Results are written at once. Until a commit has arrived at its mbarrier, the shared memory and the cells that
// an instruction reads and writes count as in use.

#include <string>
#include <vector>

#include "vgpu/engine/tensor_memory/tensor_access.hpp"
#include "vgpu/model/hazard.hpp"

namespace rung::vgpu {

class Cluster;
struct Landing;

/// One thread's instruction.
struct TensorIssue {
  Warp& warp;
  const Instr& instr;
  int lane;
  const char* what;      // "tcgen05.mma"
  std::uint32_t number;  // among the pipelined instructions of the warp

  Block& block() const { return *warp.block; }
  int thread() const;
  TensorAccess access(Block& owner) const { return {owner, warp, lane, instr.site, what, true}; }
  std::size_t component() const;
  void fail(HazardKind kind, std::string address, std::string message) const;
};

/// Counts the instruction. Returns it.
TensorIssue issue(Warp& warp, const Instr& instr, int lane, const char* what);

/// The blocks that the instruction works on, in the order of rows: one, or both of its pair. Empty, after a
/// report, if the other block does not exist or has exited.
std::vector<Block*> blocks_of(const TensorIssue& issue, int blocks);

/// Checks that cells are allocated and that earlier accesses are complete, and records the access. Returns
/// false after a fault.
bool use_cells(const TensorIssue& issue, Block& owner, const TensorRange& range, bool writes);

/// Instr::imm points at a TensorMultiplyOp.
void run_tensor_multiply(Warp& warp, const Instr& instr);
/// Instr::imm points at a TensorCopyOp.
void run_tensor_copy(Warp& warp, const Instr& instr);
/// Instr::imm points at a TensorShiftOp.
void run_tensor_shift(Warp& warp, const Instr& instr);
/// Instr::imm points at a TensorCommitOp.
void run_tensor_commit(Warp& warp, const Instr& instr);

/// Replaces an address of shared memory (row 1) by the same one in the even block of the pair (row 0).
void run_even_block(Warp& warp, const Instr& instr);

/// Completes a commit: arrives at its mbarriers.
void land_commit(Cluster& cluster, const Landing& landing);

/// Reports multiplications that read from or write to the block, which has exited.
void finish_tensor_pair(Block& block);

}  // namespace rung::vgpu
