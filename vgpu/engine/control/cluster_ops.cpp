#include "vgpu/engine/control/cluster_ops.hpp"

#include <fmt/format.h>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Type;

// Instr::imm of cluster barriers.
constexpr std::uint64_t orders = 1;  // not .relaxed
constexpr std::uint64_t aligned = 2;
// Instr::imm of setmaxnreg.
constexpr std::uint64_t increases_registers = 1;

void check_aligned(Warp& warp, const Instr& instr) {
  if ((instr.imm & aligned) == 0 || warp.mask == warp.live || !warp.block->worker.observe) return;
  report(*warp.block, HazardKind::divergent_barrier,
         warp.block->thread(warp, first_lane(warp.mask)), instr.site, "barrier", {},
         fmt::format("{} of the warp's {} live lanes came to a barrier for all of them",
                     lanes_in(warp.mask), lanes_in(warp.live)));
}

void cluster_arrive(Warp& warp, const Instr& instr) {
  check_aligned(warp, instr);
  if ((instr.imm & orders) != 0) warp.block->observers.observe_fence(warp);
  warp.block->cluster.arrive(warp, instr, (instr.imm & orders) != 0);
}

void cluster_wait(Warp& warp, const Instr& instr) {
  check_aligned(warp, instr);
  warp.block->cluster.wait(warp, instr);
}

/// fence.mbarrier_init: the warp's next arrival at the cluster barrier, even a relaxed one,
/// releases the initialisation of mbarriers. Here it releases everything that the warp did before
/// the fence.
void mbarrier_fence(Warp& warp, const Instr& instr) {
  run_mbarrier_fence(warp, instr);
  warp.block->async->warps[static_cast<std::size_t>(warp.index)].initialised = publish(warp);
}

template <class F>
void for_lanes(const Warp& warp, const F& f) {
  for (Mask left = warp.mask; left != 0; left &= left - 1) f(first_lane(left));
}

/// mapa: returns the corresponding address in another block of the cluster.
template <class Address>
void map_address(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  Address* const to = warp.row<Address>(instr.rows[0]);
  const Address* const from = warp.row<Address>(instr.rows[1]);
  const std::uint32_t* const ranks = warp.row<std::uint32_t>(instr.rows[2]);
  constexpr std::uint64_t inside = (1u << rank_shift) - 1;
  for_lanes(warp, [&](int lane) {
    const std::uint64_t address = from[lane], rank = ranks[lane];
    if (rank >= static_cast<std::uint64_t>(block.cluster.size())) {
      report(block, HazardKind::out_of_bounds, block.thread(warp, lane), instr.site, "mapa", {},
             fmt::format("block {} of a cluster of {}", rank, block.cluster.size()));
      block.worker.launch.stop = true;
      return;
    }
    const std::uint64_t window = sizeof(Address) == 8 ? address & ~window_mask : 0;
    to[lane] = static_cast<Address>(window | (rank + 1) << rank_shift | (address & inside));
  });
}

template <class Address>
void rank_of_address(Warp& warp, const Instr& instr) {
  std::uint32_t* const to = warp.row<std::uint32_t>(instr.rows[0]);
  const Address* const from = warp.row<Address>(instr.rows[1]);
  for_lanes(warp, [&](int lane) {
    const auto rank = static_cast<std::uint32_t>((from[lane] & window_mask) >> rank_shift);
    to[lane] = rank == 0 ? static_cast<std::uint32_t>(warp.block->rank) : rank - 1;
  });
}

/// setmaxnreg "reduces" or "increases" the count "from its current value" (PTX ISA, "setmaxnreg"). The count that
/// a launch begins with is only known not to exceed registers_of().
void check_direction(Warp& warp, const Instr& instr, int count) {
  const AsyncState& state = *warp.block->async;
  const auto index = static_cast<std::size_t>(warp.index);
  const int current = registers_of(state, index);
  const bool increases = instr.imm == increases_registers;
  const bool is_known = state.warps[index].registers != 0;
  if (increases ? !is_known || count >= current : count <= current) return;
  report(*warp.block, HazardKind::bad_participant, warp.block->thread(warp, first_lane(warp.mask)),
         instr.site, "setmaxnreg", {},
         fmt::format("{} registers are {} than the {}{} that the warp has: use setmaxnreg.{}",
                     count, increases ? "fewer" : "more", is_known ? "" : "at most ", current,
                     increases ? "dec" : "inc"));
}

void set_registers(Warp& warp, const Instr& instr) {
  const auto count =
      static_cast<int>(warp.row<std::uint32_t>(instr.rows[0])[first_lane(warp.mask)]);
  if (warp.block->worker.observe) check_direction(warp, instr, count);
  warp.block->async->warps[static_cast<std::size_t>(warp.index)].registers = count;
}

OpSpec spec(Handler handler, std::vector<Type> operands, int destinations, std::uint64_t imm = 0) {
  OpSpec result;
  result.full = result.masked = handler;
  result.operands = std::move(operands);
  result.destinations = destinations;
  result.imm = imm;
  return result;
}

OpSpec cluster_barrier(const ptx::Instruction& instruction) {
  const std::uint64_t flags =
      (instruction.has("relaxed") ? 0 : orders) | (instruction.has("aligned") ? aligned : 0);
  return spec(instruction.has("arrive") ? cluster_arrive : cluster_wait, {}, 0, flags);
}

/// setmaxnreg: the count must be a multiple of 8 from 24 to 256.
std::optional<OpSpec> register_count(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1) return std::nullopt;
  const ptx::Operand& count = instruction.operands[0];
  const bool fits = count.kind == ptx::Operand::Kind::immediate && count.bits % 8 == 0 &&
                    count.bits >= 24 && count.bits <= 256;
  return fits ? std::optional(spec(set_registers, {Type::u32}, 0,
                                   instruction.has("inc") ? increases_registers : 0))
              : std::nullopt;
}

std::optional<OpSpec> proxy_fence(const ptx::Instruction& instruction) {
  const auto& words = instruction.modifiers;
  if (words.empty()) return std::nullopt;
  if (words[0] == "mbarrier_init") return spec(mbarrier_fence, {}, 0);
  const bool async = words[0] == "proxy" && words.size() > 1 && words[1].starts_with("async");
  if (!async) return std::nullopt;
  const bool global = instruction.has("global");
  const bool shared = instruction.has("shared::cta") || instruction.has("shared::cluster");
  return spec(shared   ? run_proxy_fence_of_shared
              : global ? run_proxy_fence_of_global
                       : run_proxy_fence,
              {}, 0);
}

}  // namespace

std::optional<OpSpec> cluster_instruction(const ptx::Instruction& instruction) {
  using ptx::Opcode;
  const bool wide = instruction.has("u64");
  const Type address = wide ? Type::u64 : Type::u32;
  switch (instruction.opcode) {
    case Opcode::barrier:
      return instruction.has("cluster") ? std::optional(cluster_barrier(instruction))
                                        : std::nullopt;
    case Opcode::mapa:
      return spec(wide ? map_address<std::uint64_t> : map_address<std::uint32_t>,
                  {address, address, Type::u32}, 1);
    case Opcode::getctarank:
      return spec(wide ? rank_of_address<std::uint64_t> : rank_of_address<std::uint32_t>,
                  {Type::u32, address}, 1);
    case Opcode::setmaxnreg: return register_count(instruction);
    case Opcode::fence: return proxy_fence(instruction);
    default: return std::nullopt;
  }
}

}  // namespace rung::vgpu
