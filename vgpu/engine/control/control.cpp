#include "vgpu/engine/control/control.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/warp/warp_members.hpp"
#include "vgpu/memory/launch_accesses.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Type;

// Bits of Instr::imm of barriers.
constexpr std::uint64_t barrier_aligned = 1;
constexpr std::uint64_t barrier_counted = 2;
constexpr std::uint64_t barrier_leaves_shared = 4;
constexpr std::uint64_t barrier_leaves_device = 8;
constexpr std::uint64_t barrier_named = 16;  // constant id, in the bits from barrier_id_shift on
constexpr int barrier_id_shift = 8;

struct BarrierOperands {
  int id;
  std::uint32_t expected;  // number of threads; 0: all
};

[[gnu::noinline]] void report_bad_barrier(Warp& warp, const Instr& instr, std::uint32_t id) {
  report(*warp.block, HazardKind::trap, warp.block->thread(warp, first_lane(warp.mask)), instr.site,
         "barrier", {},
         id >= barrier_count ? "there is no such barrier: at most 15"
                             : "the thread count of a barrier has to be a multiple of 32");
}

/// Evaluates the operands. Reports an invalid id or count, and replaces it by 0.
inline BarrierOperands barrier_operands(Warp& warp, const Instr& instr, int first_row) {
  if ((instr.imm & barrier_named) != 0) return {static_cast<int>(instr.imm >> barrier_id_shift), 0};
  const int lane = first_lane(warp.mask);
  const std::uint32_t id = warp.row<std::uint32_t>(instr.rows[first_row])[lane];
  std::uint32_t expected = 0;
  if ((instr.imm & barrier_counted) != 0) {
    expected = warp.row<std::uint32_t>(instr.rows[first_row + 1])[lane];
  }
  if (id >= barrier_count || expected % warp_size != 0) {
    report_bad_barrier(warp, instr, id);
    return {0, 0};
  }
  return {static_cast<int>(id), expected};
}

OrderedMemory ordered_by(const Instr& instr) {
  return {(instr.imm & barrier_leaves_shared) == 0, (instr.imm & barrier_leaves_device) == 0};
}

void barrier_sync(Warp& warp, const Instr& instr) {
  const BarrierOperands operands = barrier_operands(warp, instr, 0);
  warp.block->barrier_sync(warp, operands.id, operands.expected, instr,
                           (instr.imm & barrier_aligned) != 0, ordered_by(instr));
}

void barrier_arrive(Warp& warp, const Instr& instr) {
  const BarrierOperands operands = barrier_operands(warp, instr, 0);
  warp.block->barrier_arrive(warp, operands.id, operands.expected, instr);
}

template <Barrier::Reduction Reduction, bool Negated>
void barrier_reduce(Warp& warp, const Instr& instr) {
  const BarrierOperands operands = barrier_operands(warp, instr, 2);
  const Mask predicate = warp.predicate(instr.rows[1]);
  warp.block->barrier_reduce(warp, operands.id, operands.expected, instr, Reduction,
                             Negated ? ~predicate : predicate);
}

void warp_sync(Warp& warp, const Instr& instr) {
  const Mask* const masks = warp.row<Mask>(instr.rows[0]);
  const Mask wanted = masks[first_lane(warp.mask)];
  if (const Mask outside = lanes_outside(warp, masks)) report_not_a_member(warp, instr, outside);
  warp.block->warp_sync(warp, wanted, instr, ordered_by(instr));
}

void fence(Warp& warp, const Instr&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // other blocks run on other CPU threads
  warp.block->observers.observe_fence(warp);
}
void grid_trigger(Warp& warp, const Instr&) {
  LaunchAccesses* const touched = warp.worker->touched;
  if (touched != nullptr) touched->note_trigger(warp.block->linear);
}

void grid_wait(Warp& warp, const Instr&) { warp.block->observers.observe_grid_wait(warp); }
void nothing(Warp&, const Instr&) {}

void trap(Warp& warp, const Instr& instr) {
  report(*warp.block, HazardKind::trap, warp.block->thread(warp, first_lane(warp.mask)), instr.site,
         "trap", {}, "the kernel stopped itself");
  warp.block->worker.launch.stop = true;
}

/// Before a call that does not fit into the stack (lowering/call_stack.cpp).
void stack_overflow(Warp& warp, const Instr& instr) {
  report(*warp.block, HazardKind::trap, warp.block->thread(warp, first_lane(warp.mask)), instr.site,
         "call", {}, "the thread's stack is full: calls are nested too deeply");
  warp.block->worker.launch.stop = true;
}

template <class F>
void for_lanes(const Warp& warp, const F& f) {
  for (Mask left = warp.mask; left != 0; left &= left - 1) f(first_lane(left));
}

/// cvta to and from generic addresses: adds Instr::imm.
void convert_address(Warp& warp, const Instr& instr) {
  std::uint64_t* to = warp.row<std::uint64_t>(instr.rows[0]);
  const std::uint64_t* from = warp.row<std::uint64_t>(instr.rows[1]);
  for_lanes(warp, [&](int lane) { to[lane] = from[lane] + instr.imm; });
}

/// isspacep: Instr::imm is the state space's window.
void is_in_window(Warp& warp, const Instr& instr) {
  const std::uint64_t* address = warp.row<std::uint64_t>(instr.rows[1]);
  Mask& result = warp.predicate(instr.rows[0]);
  for_lanes(warp, [&](int lane) {
    const Mask bit = 1u << lane;
    const bool inside = (address[lane] & ~window_mask) == instr.imm;
    result = inside ? result | bit : result & ~bit;
  });
}

/// Virtual time advances by this many cycles for each warp instruction that the worker has run:
/// about the latency of a dependent instruction. Chosen not to divide round numbers: a program that
/// spins for a round number of cycles overshoots it as on a GPU, and some programs check that they
/// did.
constexpr std::uint64_t cycles_of_instruction = 7;

/// All instructions of a basic block are counted when it begins; Instr::imm is the number still to
/// run.
std::uint64_t cycles(const Warp& warp, const Instr& instr) {
  return (warp.block->worker.spent - instr.imm) * cycles_of_instruction;
}

void read_clock(Warp& warp, const Instr& instr) {
  std::uint64_t* to = warp.row<std::uint64_t>(instr.rows[0]);
  for_lanes(warp, [&](int lane) { to[lane] = cycles(warp, instr); });
}
void read_clock_low(Warp& warp, const Instr& instr) {
  std::uint32_t* to = warp.row<std::uint32_t>(instr.rows[0]);
  for_lanes(warp, [&](int lane) { to[lane] = static_cast<std::uint32_t>(cycles(warp, instr)); });
}
void read_timer(Warp& warp, const Instr& instr) {
  std::uint64_t* to = warp.row<std::uint64_t>(instr.rows[0]);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  for_lanes(warp, [&](int lane) { to[lane] = static_cast<std::uint64_t>(ns); });
}

OpSpec spec(Handler handler, std::vector<Type> operands, int destinations, std::uint64_t imm = 0) {
  OpSpec result;
  result.full = result.masked = handler;
  result.operands = std::move(operands);
  result.destinations = destinations;
  result.imm = imm;
  return result;
}

/// The suffixes .threadgroup, .device and .none of bar.sync and bar.warp.sync are not PTX. The
/// Metal headers (emu/metal) use them for barriers with mem_flags.
std::uint64_t left_out_of_order(const ptx::Instruction& instruction) {
  if (instruction.has("threadgroup")) return barrier_leaves_device;
  if (instruction.has("device")) return barrier_leaves_shared;
  return instruction.has("none") ? barrier_leaves_shared | barrier_leaves_device : 0;
}

/// Instr::imm of a barrier of all threads whose id is a constant. Such handlers need no row for the
/// id.
std::uint64_t named_barrier(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1) return 0;
  const ptx::Operand& id = instruction.operands[0];
  if (id.kind != ptx::Operand::Kind::immediate || id.is_float || id.bits >= barrier_count) return 0;
  return barrier_named | id.bits << barrier_id_shift;
}

std::optional<OpSpec> barrier(const ptx::Instruction& instruction) {
  const bool bar = instruction.opcode == ptx::Opcode::bar;
  const std::uint64_t aligned = bar || instruction.has("aligned") ? barrier_aligned : 0;
  const bool reduces = instruction.has("red");
  // The operand check (lowering/operand_check.hpp) rejects missing or extra operands.
  const std::size_t given = reduces ? std::clamp<std::size_t>(instruction.operands.size(), 3, 4)
                                    : std::clamp<std::size_t>(instruction.operands.size(), 1, 2);
  const auto flags = [&](std::size_t count_at) {
    return aligned | (given > count_at ? barrier_counted : 0);
  };
  const auto operands = [](std::size_t count) { return std::vector<Type>(count, Type::u32); };
  if (instruction.has("warp")) {
    return spec(warp_sync, operands(1), 0, left_out_of_order(instruction));
  }
  if (instruction.has("sync")) {
    return spec(barrier_sync, operands(given), 0,
                flags(1) | left_out_of_order(instruction) | named_barrier(instruction));
  }
  if (instruction.has("arrive")) return spec(barrier_arrive, operands(given), 0, flags(1));
  if (!reduces) return std::nullopt;
  const bool negated = !instruction.operands.empty() && instruction.operands.back().negated;
  const bool popc = instruction.has("popc");
  using Reduction = Barrier::Reduction;
  Handler handler = nullptr;
  if (popc) {
    handler =
        negated ? barrier_reduce<Reduction::popc, true> : barrier_reduce<Reduction::popc, false>;
  } else if (instruction.has("and")) {
    handler =
        negated ? barrier_reduce<Reduction::all, true> : barrier_reduce<Reduction::all, false>;
  } else if (instruction.has("or")) {
    handler =
        negated ? barrier_reduce<Reduction::any, true> : barrier_reduce<Reduction::any, false>;
  } else {
    return std::nullopt;
  }
  // Rows: destination, predicate, id, count. PTX lists the predicate last; the lowering moves it.
  std::vector<Type> types = {popc ? Type::u32 : Type::pred, Type::pred, Type::u32};
  if (given == 4) types.push_back(Type::u32);
  return spec(handler, std::move(types), 1, flags(3));
}

std::optional<OpSpec> address_conversion(const ptx::Instruction& instruction) {
  std::uint64_t window = 0;
  if (instruction.has("shared") || instruction.has("shared::cta") ||
      instruction.has("shared::cluster")) {
    window = shared_window;
  }
  if (instruction.has("local")) window = local_window;
  if (instruction.has("param")) window = param_window;
  if (instruction.has("u32")) return std::nullopt;
  return spec(convert_address, {Type::u64, Type::u64}, 1,
              instruction.has("to") ? 0 - window : window);
}

std::optional<OpSpec> space_predicate(const ptx::Instruction& instruction) {
  std::uint64_t window = 0;
  if (instruction.has("shared") || instruction.has("shared::cta") ||
      instruction.has("shared::cluster")) {  // generic addresses only reach the block's own
    window = shared_window;
  } else if (instruction.has("local")) {
    window = local_window;
  } else if (!instruction.has("global")) {
    return std::nullopt;
  }
  return spec(is_in_window, {Type::pred, Type::u64}, 1, window);
}

std::optional<OpSpec> clock(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 2 ||
      instruction.operands[1].kind != ptx::Operand::Kind::special) {
    return std::nullopt;
  }
  const std::string& name = instruction.operands[1].name;
  if (name == "clock64") return spec(read_clock, {Type::u64}, 1);
  if (name == "clock") return spec(read_clock_low, {Type::u32}, 1);
  if (name == "globaltimer") return spec(read_timer, {Type::u64}, 1);
  return std::nullopt;
}

/// griddepcontrol: launches run one after the other, so wait returns immediately.
std::optional<OpSpec> dependency_control(const ptx::Instruction& instruction) {
  if (instruction.has("wait")) return spec(grid_wait, {}, 0);
  if (instruction.has("launch_dependents")) return spec(grid_trigger, {}, 0);
  return std::nullopt;
}

}  // namespace

std::optional<OpSpec> control(const ptx::Instruction& instruction) {
  using ptx::Opcode;
  switch (instruction.opcode) {
    case Opcode::bar:
    case Opcode::barrier: return barrier(instruction);
    case Opcode::membar:
    case Opcode::fence: {
      // A fence of scope .cta orders nothing between blocks.
      const bool wide = !instruction.has("cta") && !instruction.has("proxy");
      return spec(wide ? fence : nothing, {}, 0);
    }
    case Opcode::cvta: return address_conversion(instruction);
    case Opcode::isspacep: return space_predicate(instruction);
    case Opcode::mov: return clock(instruction);
    case Opcode::trap: return spec(instruction.has("stack") ? stack_overflow : trap, {}, 0);
    case Opcode::nanosleep: return spec(nothing, {Type::u32}, 0);
    case Opcode::griddepcontrol: return dependency_control(instruction);
    case Opcode::brkpt: return spec(nothing, {}, 0);
    default: return std::nullopt;
  }
}

}  // namespace rung::vgpu
