#include "tools/analysis/diagnosis/work.hpp"

#include <algorithm>
#include <cmath>

#include "tools/analysis/diagnosis/dataflow.hpp"
#include "tools/analysis/diagnosis/instruction_cost.hpp"
#include "tools/analysis/diagnosis/tensor_cores.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis::diagnosis {
namespace {

constexpr double sector_bytes = 32, wavefront_bytes = 128;
constexpr double sectors_of_line = 4;
constexpr std::uint64_t sectors_of_piece = 2;

// Constants measured on an H200; docs/notes/virtual-gpu.md has the data.

// L2 costs for one SM while all SMs load: bytes per cycle for full lines; cycles for a line with
// few loaded sectors; cycles for a sector that is partially written or written again.
constexpr double l2_bytes_a_cycle = 36, line_cycles = 2.2, slow_store_cycles = 4.5;
// The latter for local memory, where each thread has lines of its own: on an H200, 2^23 stores to
// stacks of 32 words and as many loads took 117 us.
constexpr double slow_local_cycles = 3;
// At most two such sectors of a line share the cost.
constexpr double least_slow_share = 0.5;
// The L2 rate of bulk copies, which request many lines at once.
constexpr double l2_bulk_bytes_a_cycle = 56;
// Shared-memory costs: cycles of a warp's atomics at distinct addresses, and of each retry of a
// float atomic at one address (a compare-and-swap loop, repeated until no other warp interferes).
constexpr double shared_atomic_cycles = 4, float_turn_cycles = 18;
// Cycles of a slice of L2 for a pass of a warp's atomics over a sector; of a sector for a pass of
// floats, which start after the pass before them; and the slices: on an H200, 65,536 warps with 1, 14 and 32
// lanes at different words of a line took 48, 95 and 155 us, at one word each 48 to 1540 us, floats 115 to 3680
// us; 32 lanes at words of 32 lines, 200 us, at 65,536 words, 23 us.
constexpr double atomic_pass_cycles = 1.43, float_pass_cycles = 3.5, atomic_slices = 47;

/// The number of bytes that lanes load from, or store to, global memory.
double bytes_of(const KernelTrace& trace, bool loads) {
  double bytes = 0;
  for (const Access& access : trace.accesses) {
    if (access.space == Space::global && access.is_load == loads) bytes += access.moved_bytes();
  }
  return bytes;
}

/// The number of requests of an access, after widening to 16 bytes per lane if cured.
double requests_of(const Access& access, const Cure& cure) {
  const double requests = number(access.count.executions);
  return cure.wide ? requests * access.bytes / widest : requests;
}

/// The share of the stores, and of the loads of intermediate results, that remains.
double stored_once(const Facts& facts) { return 1 / std::max(1.0, times_stored(facts)); }

/// True if most stored data is also loaded.
bool loads_results(const vgpu::Footprint& f) {
  return 2 * (f.loaded_sectors + f.stored_sectors - f.sectors) > f.stored_sectors;
}

/// True if all lanes of a warp load the same sector. Shared memory would not reduce the number of
/// requests.
bool is_uniform(const Access& access) {
  constexpr double lanes_of_sector = 8;
  return access.count.units == access.count.executions &&
         number(access.count.lanes) > lanes_of_sector * number(access.count.executions);
}

bool is_scattered(const Access& access) {
  return number(access.count.units) > 2 * least_sectors(access);
}

/// L1 cycles of an access based only on its sectors: one per line if they are scattered.
double turns_of(const Access& access, double requests, double sectors) {
  return is_scattered(access) ? sectors : std::max(requests, sectors / sectors_of_line);
}

/// Scattered sectors in different columns of their lines share an L1 cycle. Returns the ratio of
/// the actual L1 cycles of all loads, or all stores, to the sum of turns_of().
double counted_turns(const Facts& facts, bool loads) {
  double turns = 0;
  for (const Access& access : facts.trace.accesses) {
    if (access.space != Space::global || access.is_load != loads) continue;
    turns += turns_of(access, number(access.count.executions), number(access.count.units));
  }
  const double counted = number(loads ? facts.footprint.load_turns : facts.footprint.store_turns);
  return turns > 0 && counted > 0 ? counted / turns : 1;
}

void add_global(Work& work, const Access& access, const Facts& facts, const Cure& cure) {
  const double sectors = number(access.count.units), least = least_sectors(access);
  const double requests = requests_of(access, cure);
  double cycles = cure.coalesced
                      ? std::max(requests, least / sectors_of_line)
                      : turns_of(access, requests, sectors) * counted_turns(facts, access.is_load);
  if (cure.reused && access.is_load && !is_uniform(access)) {
    cycles /= std::max(1.0, times_loaded(facts));
  }
  if (cure.one_pass && access.is_load) cycles *= 1 - share_reloaded(facts);
  if (cure.stored_once && !access.is_load) {
    const double saved = cycles * (1 - stored_once(facts));
    cycles -= saved;
    if (loads_results(facts.footprint)) work.l1 -= saved;
  }
  work.l1 += cycles;
  // An asynchronous copy also writes shared memory; its bank conflicts are unknown.
  if (access.asynchronous) {
    work.shared +=
        std::max(number(access.count.executions), access.moved_bytes() / wavefront_bytes);
  }
}

void add_shared(Work& work, const Access& access, const Facts& facts, const Cure& cure) {
  double cycles = number(access.count.units) - access.conflict_wavefronts();
  if (cure.wide) {
    cycles = std::min(cycles,
                      std::max(access.moved_bytes() / wavefront_bytes, requests_of(access, cure)));
  }
  if (cure.in_registers && access.is_load) cycles /= 4;
  if (cure.tensor_cores && access.is_load) cycles /= tensor_core_gain;
  // Merged loads have the bank conflicts of one load, but return the bytes of all.
  const double conflicts = number(access.count.units) / access.merged -
                           (number(access.count.units) - access.conflict_wavefronts());
  if (!cure.conflict_free) cycles += std::max(0.0, conflicts);
  if (cure.shared_out) {
    cycles *= cured_executions(access.count, facts, cure) / number(access.count.executions);
  }
  work.shared += cycles;
}

/// The access to data memory by the instruction at this line; null if it has none.
const Access* access_at(const KernelTrace& trace, int line) {
  for (const Access& access : trace.accesses) {
    if (access.count.ptx_line == line) return &access;
  }
  return nullptr;
}

/// Removes the address arithmetic (a shift and an addition) of accesses that are no longer made.
void remove_addresses(Work& work, double accesses) {
  constexpr double instructions = 2, cycles = 0.5;
  work.slots -= accesses * instructions;
  work.pipes[static_cast<std::size_t>(Pipe::integer)] -= accesses * instructions * cycles;
}

/// The share of accesses to `bytes` in turn that a cache misses. The least recently used line is
/// replaced, so a cache that is a little too small holds nothing until it is needed again.
double beyond(double bytes, double cache) {
  constexpr double begins = 0.7, ends = 1.3;
  return std::clamp((bytes / std::max(1.0, cache) - begins) / (ends - begins), 0.0, 1.0);
}

/// The part of the SM's memory that is not shared memory of the resident blocks.
double l1_bytes(const Facts& facts) {
  constexpr double beside_shared = 28 * 1024;  // 256 KB in all, at most 228 of them shared
  const double shared = resident_blocks(facts) * static_cast<double>(facts.trace.shared);
  return std::max(beside_shared, static_cast<double>(facts.device.shared_per_multiprocessor) -
                                     shared + beside_shared);
}

/// The share of local traffic that L2 cannot hold.
double local_beyond_l2(const Facts& facts) {
  const double threads =
      std::min(facts.blocks(), resident_blocks(facts) * facts.machine.multiprocessors) *
      static_cast<double>(facts.trace.block.count());
  const double bytes = threads * static_cast<double>(facts.spills.frame);
  return bytes > 0 ? std::max(0.0, 1 - static_cast<double>(facts.device.l2_bytes) / bytes) : 0;
}

/// The share of an access that remains.
double kept_of(const Access& access, const Facts& facts, const Cure& cure) {
  const bool global = access.space == Space::global;
  if (cure.in_registers && !global && access.is_load) return 0.25;
  if (cure.reused && global && access.is_load && !is_uniform(access)) return 0.25;
  if (cure.stored_once && global && !access.is_load) return stored_once(facts);
  if (cure.one_pass && global && access.is_load) return 1 - share_reloaded(facts);
  return 1;
}

/// Adds an access to local memory. Stores are written through to L2.
void add_local(Work& work, const vgpu::ptx::Instruction& instruction, const SiteCount& site,
               const Facts& facts) {
  const double requests = facts.local_share * number(site.executions);
  const double sectors = facts.local_share * number(site.units);
  work.l1 += std::max(requests, sectors / sectors_of_line);
  const bool load = instruction.opcode != vgpu::ptx::Opcode::st;
  const double from_l2 = load ? local_misses(facts) * sectors : sectors;
  const bool whole = load || sectors < 1.5 * sectors_of_line * requests;
  work.l2 += from_l2 * (whole ? sector_bytes / l2_bytes_a_cycle : slow_local_cycles);
  work.dram_bytes += local_beyond_l2(facts) * from_l2 * sector_bytes;
}

/// Adds the accesses to spilled registers, each a whole line.
void add_spills(Work& work, const Facts& facts) {
  const auto& [loads, stores, frame] = facts.spills;
  work.slots += loads + stores;
  work.l1 += loads + stores;
  const double bytes = (local_misses(facts) * loads + stores) * wavefront_bytes;
  work.l2 += bytes / l2_bytes_a_cycle;
  work.dram_bytes += local_beyond_l2(facts) * bytes;
}

void add_instruction(Work& work, const vgpu::ptx::Instruction& instruction, const SiteCount& site,
                     const Facts& facts, const Cure& cure) {
  InstructionCost cost = cost_of(instruction, facts.device);
  double executions = cured_executions(site, facts, cure);
  if (cure.no_local && instruction.has("local")) return remove_addresses(work, executions);
  if (const Access* access = access_at(facts.trace, site.ptx_line)) {
    executions *= requests_of(*access, cure) / number(access->count.executions) / access->merged;
    const double kept = kept_of(*access, facts, cure);
    remove_addresses(work, executions * (1 - kept));
    executions *= kept;
  }
  if (cost.pipe == Pipe::matrix) {
    cost.cycles = tensor_core_cycles(instruction, facts.device, facts.machine);
  }
  const bool feeds_products =
      is_multiply_add(instruction, false) || (instruction.has("shared") && instruction.is_load()) ||
      (instruction.opcode == vgpu::ptx::Opcode::cvt && instruction.has("f16"));
  if (cure.tensor_cores && feeds_products) {
    cost.slots /= tensor_core_gain;
    cost.cycles /= tensor_core_gain;
  }
  if (cure.lean_addresses && cost.pipe == Pipe::integer) executions /= 3;
  if (cure.fast_arithmetic && is_slow(instruction)) cost.slots = 1, cost.cycles = 0.5;
  if (cure.single_precision && instruction.has("f64")) {
    if (instruction.opcode == vgpu::ptx::Opcode::cvt) return;
    constexpr double division = 13;
    cost.slots = std::min(cost.slots, division);
    // A polynomial for single precision has half the terms.
    if (!is_slow(instruction)) executions /= 2;
    cost.pipe = Pipe::fp32;
    cost.cycles = 0.25 * cost.slots;
  }
  if (instruction.has("local")) {
    add_local(work, instruction, site, facts);
    executions *= facts.local_share;
  }
  const bool atomic = instruction.is(vgpu::ptx::Opcode::atom, vgpu::ptx::Opcode::red);
  if (atomic && instruction.has("shared")) work.shared += shared_atomic_cycles * number(site.units);
  if (cure.no_barriers && cost.pipe == Pipe::barrier) return;
  work.slots += executions * cost.slots;
  work.pipes[static_cast<std::size_t>(cost.pipe)] += executions * cost.cycles;
  if (cost.is_balanced) work.balanced += executions * cost.cycles;
}

/// Moves additions from the integer units to the multipliers until both have as much to do.
void balance(Work& work) {
  double& integer = work.pipes[static_cast<std::size_t>(Pipe::integer)];
  double& multiply = work.pipes[static_cast<std::size_t>(Pipe::multiply)];
  const double moved = std::clamp((integer - multiply) / 2, 0.0, work.balanced);
  integer -= moved;
  multiply += moved;
  // A multiplier is a half of the FP32 units.
  work.pipes[static_cast<std::size_t>(Pipe::fp32)] += multiply / 2;
}

/// Sectors loaded from L2 by blocks: once each, except loads that bypass L1.
double loaded_from_l2(const Facts& facts) {
  double bypassing = 0, all = 0;
  for (const Access& access : facts.trace.accesses) {
    if (access.space != Space::global || !access.is_load) continue;
    const vgpu::ptx::Instruction& instruction = *facts.instructions.at(access.count.ptx_line);
    all += number(access.count.units);
    if (bypasses_l1(instruction)) bypassing += number(access.count.units);
  }
  const double cached = all > 0 ? 1 - bypassing / all : 1;
  return bypassing + cached * number(facts.footprint.loaded_sectors_by_block);
}

void add_traffic(Work& work, const Facts& facts, const Cure& cure) {
  const vgpu::Footprint& f = facts.footprint;
  double needed = 0;
  for (const Access& access : facts.trace.accesses) {
    if (access.space == Space::global) needed += least_sectors(access);
  }
  const double kept = cure.stored_once ? stored_once(facts) : 1;
  const double partly = cure.coalesced ? 0 : kept * number(f.partly_stored_sectors);
  const double again = cure.stored_once ? 0 : number(f.store_sectors - f.stored_sectors);
  const double slow = cure.coalesced && times_stored(facts) < 2 ? 0 : std::max(partly, again);
  const double whole = std::max(0.0, kept * number(f.store_sectors) - slow);
  const Reloads again_loaded = cure.one_pass || cure.reused ? Reloads{} : reloads_of(facts);
  const double loaded = again_loaded.from_l2 +
                        (cure.reused ? number(f.loaded_sectors_by_block) : loaded_from_l2(facts));
  const double lines = cure.coalesced ? 0 : number(f.loaded_lines_by_block);
  double l2 = loaded + whole, dram = again_loaded.from_dram +
                                     number(sectors_of_piece * f.loaded_pieces + f.stored_sectors);
  if (cure.coalesced) {
    l2 = std::min(l2, needed);
    dram = std::min(dram, needed);
  }
  const vgpu::Counters& c = facts.trace.counters;
  const double bulk = number(c.bulk_load_sectors + c.bulk_store_sectors);
  // Partial sectors of the same line are combined.
  const double lines_of_stores = std::clamp(
      number(f.store_turns) / std::max(1.0, number(f.store_sectors)), least_slow_share, 1.0);
  work.l2 += std::max(l2 * sector_bytes / l2_bytes_a_cycle, lines * line_cycles) +
             bulk * sector_bytes / l2_bulk_bytes_a_cycle +
             slow * slow_store_cycles * lines_of_stores;
  work.dram_bytes += facts.dram_bytes.value_or((dram + bulk) * sector_bytes);
}

/// True if all atomics in shared memory add 1 and discard the result. ptxas generates a single
/// instruction that counts the lanes per address (ATOMS.POPC.INC), so they are not serialized.
bool counts_up(const Facts& facts) {
  for (const SiteCount& site : facts.trace.sites) {
    const vgpu::ptx::Instruction& instruction = *facts.instructions.at(site.ptx_line);
    const bool atomic = instruction.is(vgpu::ptx::Opcode::atom, vgpu::ptx::Opcode::red);
    if (!atomic || !instruction.has("shared")) continue;
    const auto& value = instruction.operands.back();
    const bool is_one = value.kind == vgpu::ptx::Operand::Kind::immediate && value.bits == 1;
    if (!instruction.has("add") || !is_one) return false;
  }
  return true;
}

/// True if any atomic in shared or global memory adds a float.
bool adds_floats(const Facts& facts, bool shared) {
  return std::ranges::any_of(facts.trace.sites, [&](const SiteCount& site) {
    const vgpu::ptx::Instruction& instruction = *facts.instructions.at(site.ptx_line);
    return instruction.is(vgpu::ptx::Opcode::atom, vgpu::ptx::Opcode::red) &&
           instruction.has("shared") == shared &&
           (instruction.has("f32") || instruction.has("f64"));
  });
}

/// The share of the passes over the busiest unit that remains after the compiler has combined the
/// atomics of a warp. It does so for integers of 32 bits if the address is the same for all lanes, for
/// example a parameter.
double uncombined_atomics(const Facts& facts) {
  const std::set<int> varying =
      lines_with_address_from(facts.text, [](const vgpu::ptx::Instruction& instruction) {
        const bool loads = instruction.is_load() && !instruction.has("param");
        return loads || instruction.opcode == vgpu::ptx::Opcode::atom ||
               std::ranges::any_of(instruction.operands, [](const vgpu::ptx::Operand& operand) {
                 return operand.name.starts_with("tid") || operand.name.starts_with("lane");
               });
      });
  double lanes = 0, executions = 0;
  for (const SiteCount& site : facts.trace.sites) {
    const vgpu::ptx::Instruction& instruction = *facts.instructions.at(site.ptx_line);
    if (!instruction.is(vgpu::ptx::Opcode::atom, vgpu::ptx::Opcode::red)) continue;
    const bool is_32_bits = instruction.has("u32") || instruction.has("s32");
    if (instruction.has("shared") || !is_32_bits || varying.contains(site.ptx_line)) continue;
    lanes += number(site.lanes);
    executions += number(site.executions);
  }
  // Atomics at other addresses are not combined.
  constexpr double nearly_all = 0.9;
  const bool are_busiest = lanes >= nearly_all * number(facts.footprint.atomic_passes_of_unit);
  return lanes > 0 && are_busiest ? executions / lanes : 1;
}

/// Cycles of L2 in which it serves nothing but atomics of the busiest slice.
double atomic_cycles(const Facts& facts) {
  const vgpu::Footprint& f = facts.footprint;
  const double all = number(f.atomic_passes) / atomic_slices;
  const double busiest = atomic_pass_cycles * std::max(all, number(f.atomic_passes_of_unit));
  if (!adds_floats(facts, false)) return busiest * uncombined_atomics(facts);
  return std::max(busiest, float_pass_cycles * number(f.atomics_at_one_address));
}

}  // namespace

Work work_of(const Facts& facts, const Cure& cure) {
  Work work;
  const std::set<int> merged = merged_lines(facts.text);
  for (const SiteCount& site : facts.trace.sites) {
    if (merged.contains(site.ptx_line)) continue;
    add_instruction(work, *facts.instructions.at(site.ptx_line), site, facts, cure);
  }
  balance(work);
  for (const Access& access : facts.trace.accesses) {
    if (access.space == Space::global) {
      add_global(work, access, facts, cure);
    } else {
      add_shared(work, access, facts, cure);
    }
  }
  if (!cure.no_spills) add_spills(work, facts);
  const vgpu::Counters& c = facts.trace.counters;
  work.shared +=
      number(c.wgmma_shared_load_wavefronts) +
      number(c.tcgen05_shared_load_bytes + c.bulk_shared_store_bytes + c.bulk_shared_load_bytes) /
          wavefront_bytes;
  work.pipes[static_cast<std::size_t>(Pipe::matrix)] += tcgen05_cycles(facts);
  if (!cure.scattered_shared_atomics && !counts_up(facts)) {
    work.shared += (adds_floats(facts, true) ? float_turn_cycles : 1) *
                   number(facts.footprint.shared_atomic_turns);
  }
  if (!cure.scattered_atomics) work.atomics = atomic_cycles(facts);
  add_traffic(work, facts, cure);
  return work;
}

double resident_blocks(const Facts& facts) {
  const double of_sm = std::ceil(facts.blocks() / facts.machine.multiprocessors);
  return std::min<double>(std::max(1, facts.occupancy.blocks), of_sm);
}

double local_misses(const Facts& facts) {
  const double threads = resident_blocks(facts) * static_cast<double>(facts.trace.block.count());
  // Stores take lines of L1, too, so that it is too small from half of its size on.
  return beyond(2 * threads * static_cast<double>(facts.spills.frame), l1_bytes(facts));
}

bool has_loaded_addresses(const Facts& facts) {
  const std::set<int> lines =
      lines_with_address_from(facts.text, [](const vgpu::ptx::Instruction& instruction) {
        return instruction.is_load() && instruction.has("global");
      });
  double loaded = 0, all = 0;
  for (const Access& access : facts.trace.accesses) {
    if (access.space != Space::global || !access.is_load) continue;
    all += number(access.count.units);
    if (lines.contains(access.count.ptx_line)) loaded += number(access.count.units);
  }
  return loaded > all / 2;
}

double share_reloaded(const Facts& facts) {
  return std::min(1.0, number(facts.footprint.reloaded_sectors) /
                           std::max(1.0, number(facts.trace.counters.global_load_sectors)));
}

Reloads reloads_of(const Facts& facts) {
  const vgpu::Footprint& f = facts.footprint;
  const double resident = resident_blocks(facts), sms = facts.machine.multiprocessors;
  const double block = number(f.loaded_sectors_by_block) * sector_bytes / facts.blocks();
  const double from_l2 = number(f.reloaded_sectors) * beyond(block * resident, l1_bytes(facts));
  const double active = std::min(facts.blocks(), resident * sms);
  const double unique = std::min(block * active, number(f.loaded_sectors) * sector_bytes);
  return {from_l2, from_l2 * beyond(unique, static_cast<double>(facts.device.l2_bytes))};
}

double times_loaded(const Facts& facts) {
  return bytes_of(facts.trace, true) /
         (sector_bytes * std::max(1.0, number(facts.footprint.loaded_sectors_by_block)));
}

double times_stored(const Facts& facts) {
  return bytes_of(facts.trace, false) /
         (sector_bytes * std::max(1.0, number(facts.footprint.stored_sectors)));
}

double least_sectors(const Access& access) {
  const double word = std::max<double>(access.bytes, 4);
  return std::max(number(access.count.executions),
                  number(access.count.lanes) * word / sector_bytes);
}

double excess_sectors(const Access& access) {
  if (access.space != Space::global) return 0;
  return std::max(0.0, number(access.count.units) - least_sectors(access));
}

double bytes_of_lane(const KernelTrace& trace) {
  double bytes = 0, lanes = 0;
  for (const Access& access : trace.accesses) {
    bytes += access.moved_bytes();
    lanes += number(access.count.lanes);
  }
  return lanes > 0 ? bytes / lanes : 0;
}

bool runs_alone(const SiteCount& site) {
  const double lanes = number(site.lanes) / number(site.executions);
  return lanes < 2.02 && std::abs(lanes - std::round(lanes)) < 0.02;
}

bool has_frequent_barriers(const Facts& facts) {
  constexpr double often = 4;
  return number(facts.trace.counters.barriers) >= often * facts.warps();
}

double unevenness(std::uint64_t most, std::uint64_t all, double of) {
  return all == 0 ? 1 : std::max(1.0, number(most) * of / number(all));
}

double unevenness_of_warps(const Facts& facts) {
  const vgpu::Footprint& f = facts.footprint;
  return unevenness(f.accesses_of_longest_warps, f.accesses, facts.warps_of_block());
}

bool is_tree(const Facts& facts) {
  constexpr double max_instructions = 24, max_lanes = 0.95;
  const vgpu::Counters& c = facts.trace.counters;
  return unevenness_of_warps(facts) > 1.1 &&
         number(c.instructions) < max_instructions * number(c.barriers) &&
         number(c.thread_instructions) < max_lanes * facts.full_lanes() * number(c.instructions);
}

bool waits_for_few_warps(const Facts& facts) {
  return has_frequent_barriers(facts) &&
         (unevenness_of_warps(facts) > noticeable_unevenness || is_tree(facts));
}

double cured_executions(const SiteCount& site, const Facts& facts, const Cure& cure) {
  const double executions = number(site.executions);
  const double lanes = number(site.lanes) / executions;
  const bool alone = runs_alone(site);
  if (cure.shared_out && alone) return executions * lanes / 32 / facts.warps_of_block();
  if (cure.convergent && !alone) {
    return executions * std::min(1.0, lanes / facts.full_lanes());
  }
  return cure.whole_warps ? executions * facts.full_lanes() / 32 : executions;
}

}  // namespace rung::analysis::diagnosis
