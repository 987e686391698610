#pragma once
// tcgen05.ld, tcgen05.st and tcgen05.wait (PTX ISA, 9.7.16.8), and the order of accesses to tensor memory.

#include <span>

#include "vgpu/engine/tensor_memory/tensor_memory.hpp"

namespace rung::vgpu {

/// An access to the tensor memory of `owner`, which may be the other block of a pair.
struct TensorAccess {
  Block& owner;
  Warp& warp;
  int lane;
  std::uint32_t site;
  const char* what;           // "tcgen05.ld"
  bool is_pipelined = false;  // see TensorUse
};

enum class TensorAccessKind : std::uint8_t { read, write, release };

/// Reports earlier accesses that are not complete for the warp, and reads of cells that nothing has written.
/// Returns false after a report.
bool check_tensor_use(const TensorAccess& access, const TensorRange& range, TensorAccessKind kind);
/// Records an access. `use`: its index in TensorShadow::uses.
void note_tensor_use(const TensorAccess& access, const TensorRange& range, bool writes,
                     std::uint32_t use);
/// Adds a use that is complete when the warp's clock component reaches the number.
std::uint32_t add_tensor_use(const TensorAccess& access, std::size_t component,
                             std::uint32_t number);

/// Instr::imm points at a TensorAccessOp.
void run_tensor_load(Warp& warp, const Instr& instr);
void run_tensor_store(Warp& warp, const Instr& instr);
/// tcgen05.wait::ld and ::st.
void run_tensor_wait_loads(Warp& warp, const Instr& instr);
void run_tensor_wait_stores(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
