#include "analysis/diagnosis/work.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/diagnosis/instruction_cost.hpp"
#include "analysis/diagnosis/path.hpp"

namespace rung::analysis::diagnosis {
namespace {

constexpr double sector_bytes = 32, wavefront_bytes = 128, line_bytes = 128, widest = 16;
// A launch, and its end, of a kernel that does nothing.
constexpr double launch_seconds = 2.2e-6;
// Below that, a longer chain is hidden by the others.
constexpr double noticeable_unevenness = 1.5;
// Of L2, for each float that is added at one address: 65,536 of them took 115 us on an H200.
constexpr double atomic_cycles = 3.5;

/// What all SMs together do, in cycles of one SM.
struct Work {
  double slots = 0;
  std::array<double, pipe_count> pipes{};
  double shared = 0, l1 = 0;
  double l2_bytes = 0, dram_bytes = 0;
};

double number(std::uint64_t count) { return static_cast<double>(count); }

/// All that lanes load from, or store to, global memory.
double bytes_of(const KernelTrace& trace, bool loads) {
  double bytes = 0;
  for (const Access& access : trace.accesses) {
    if (access.space == Space::global && access.is_load == loads) bytes += access.moved_bytes();
  }
  return bytes;
}

/// The requests of an access, if those of 16 bytes a lane take the place of narrower ones.
double requests_of(const Access& access, const Cure& cure) {
  const double requests = number(access.count.executions);
  return cure.wide ? requests * access.bytes / widest : requests;
}

/// The share of the stores, and of the loads that bring their results back, that remains.
double stored_once(const Facts& facts) { return 1 / std::max(1.0, times_stored(facts)); }

/// Whether most of what is stored is loaded, too.
bool loads_results(const vgpu::Footprint& f) {
  return 2 * (f.loaded_sectors + f.stored_sectors - f.sectors) > f.stored_sectors;
}

/// A line a cycle; scattered sectors are in a line each.
void add_global(Work& work, const Access& access, const Facts& facts, const Cure& cure) {
  const double sectors = number(access.count.units), least = least_sectors(access);
  const bool scattered = !cure.coalesced && sectors > 2 * least;
  const double counted = cure.coalesced ? least : sectors;
  double cycles = scattered ? sectors : std::max(requests_of(access, cure), counted / 4);
  const vgpu::Footprint& f = facts.footprint;
  if (cure.reused && access.is_load) cycles /= std::max(1.0, times_loaded(facts));
  if (cure.stored_once && !access.is_load) {
    const double saved = cycles * (1 - stored_once(facts));
    cycles -= saved;
    if (loads_results(f)) work.l1 -= saved;
  }
  work.l1 += cycles;
}

void add_shared(Work& work, const Access& access, const Cure& cure) {
  double cycles = number(access.count.units) - access.conflict_wavefronts();
  if (cure.wide) {
    cycles = std::min(cycles,
                      std::max(access.moved_bytes() / wavefront_bytes, requests_of(access, cure)));
  }
  if (cure.in_registers && access.is_load) cycles /= 4;
  if (!cure.conflict_free) cycles += access.conflict_wavefronts();
  work.shared += cycles;
}

/// Whether the instruction accesses memory for data.
const Access* access_at(const KernelTrace& trace, int line) {
  for (const Access& access : trace.accesses) {
    if (access.count.ptx_line == line) return &access;
  }
  return nullptr;
}

/// An access that is no longer made takes its shift and its addition with it.
void remove_addresses(Work& work, double accesses) {
  constexpr double instructions = 2, cycles = 0.5;
  work.slots -= accesses * instructions;
  work.pipes[static_cast<std::size_t>(Pipe::integer)] -= accesses * instructions * cycles;
}

/// The share of an access that remains.
double kept_of(const Access& access, const Facts& facts, const Cure& cure) {
  const bool global = access.space == Space::global;
  if (cure.in_registers && !global && access.is_load) return 0.25;
  if (cure.reused && global && access.is_load) return 0.25;
  if (cure.stored_once && global && !access.is_load) return stored_once(facts);
  return 1;
}

void add_instruction(Work& work, const vgpu::ptx::Instruction& instruction, const SiteCount& site,
                     const Facts& facts, const Cure& cure) {
  InstructionCost cost = cost_of(instruction, facts.device);
  double executions = cured_executions(site, facts, cure);
  if (cure.no_local && instruction.has("local")) return remove_addresses(work, executions);
  if (const Access* access = access_at(facts.trace, site.ptx_line)) {
    executions *= requests_of(*access, cure) / number(access->count.executions);
    const double kept = kept_of(*access, facts, cure);
    remove_addresses(work, executions * (1 - kept));
    executions *= kept;
  }
  if (cure.lean_addresses && cost.pipe == Pipe::integer) executions /= 3;
  if (cure.fast_arithmetic && is_slow(instruction)) cost.slots = 1, cost.cycles = 0.5;
  if (cure.single_precision && instruction.has("f64")) {
    if (instruction.opcode == vgpu::ptx::Opcode::cvt) return;
    cost.pipe = Pipe::fp32;
    cost.cycles = 0.25 * cost.slots;
  }
  if (instruction.has("local")) {
    work.l1 += executions;
    // Stores are written through, a line each.
    if (instruction.opcode == vgpu::ptx::Opcode::st) work.l2_bytes += executions * line_bytes;
  }
  work.slots += executions * cost.slots;
  work.pipes[static_cast<std::size_t>(cost.pipe)] += executions * cost.cycles;
}

void add_traffic(Work& work, const Facts& facts, const Cure& cure) {
  const vgpu::Footprint& f = facts.footprint;
  double needed = 0, partly_written = 0;
  for (const Access& access : facts.trace.accesses) {
    if (access.space != Space::global) continue;
    needed += least_sectors(access);
    if (!access.is_load) partly_written += excess_sectors(access);
  }
  const double stored = number(cure.stored_once ? f.stored_sectors : f.store_sectors);
  double l2 = number(f.loaded_sectors_by_block) + stored;
  double dram = number(f.loaded_sectors + f.stored_sectors);
  if (cure.coalesced) {
    l2 = std::min(l2, needed);
    dram = std::min(dram, needed);
  }
  const vgpu::Counters& c = facts.trace.counters;
  if (!cure.coalesced) l2 += partly_written;  // L2 reads what such a sector keeps
  const double bulk = number(c.bulk_load_sectors + c.bulk_store_sectors);
  work.l2_bytes += (l2 + bulk) * sector_bytes;
  work.dram_bytes = (dram + bulk) * sector_bytes;
}

Work work_of(const Facts& facts, const Cure& cure) {
  Work work;
  for (const SiteCount& site : facts.trace.sites) {
    add_instruction(work, *facts.instructions.at(site.ptx_line), site, facts, cure);
  }
  for (const Access& access : facts.trace.accesses) {
    if (access.space == Space::global) {
      add_global(work, access, facts, cure);
    } else {
      add_shared(work, access, cure);
    }
  }
  const vgpu::Counters& c = facts.trace.counters;
  work.shared += number(c.wgmma_shared_load_wavefronts) +
                 number(c.bulk_shared_store_bytes + c.bulk_shared_load_bytes) / wavefront_bytes;
  if (!cure.scattered_shared_atomics) work.shared += number(facts.footprint.shared_atomic_turns);
  add_traffic(work, facts, cure);
  return work;
}

/// How the blocks fill the machine.
struct Filling {
  double sms;     // the work is divided among so many
  double rounds;  // of resident blocks, one after the other
};

Filling filling_of(const Facts& facts, const Cure& cure) {
  const double sms = facts.machine.multiprocessors, blocks = facts.blocks();
  const double most_warps = facts.device.max_warps_per_multiprocessor;
  const double resident = cure.full_occupancy ? std::max(1.0, most_warps / facts.warps_of_block())
                                              : std::max(1, facts.occupancy.blocks);
  const double of_one = blocks / sms;
  if (of_one < 1) return {cure.enough_blocks ? sms : blocks, 1};
  // The SM with the most blocks ends last.
  const double sm_rounds = cure.no_tail ? of_one : std::ceil(of_one);
  const double rounds = cure.no_tail ? of_one / resident : std::ceil(of_one / resident);
  return {blocks / sm_rounds, std::max(1.0, rounds)};
}

/// Of the block, or the warp, that has the most, relative to the mean.
double unevenness(std::uint64_t most, std::uint64_t all, double of) {
  return all == 0 ? 1 : std::max(1.0, number(most) * of / number(all));
}

}  // namespace

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

double cured_executions(const SiteCount& site, const Facts& facts, const Cure& cure) {
  const double executions = number(site.executions);
  const double lanes = number(site.lanes) / executions;
  if (cure.shared_out && lanes <= 2) return executions * lanes / 32 / facts.warps_of_block();
  if (cure.convergent && lanes > 2) {
    return executions * std::min(1.0, lanes / facts.full_lanes());
  }
  return cure.whole_warps ? executions * facts.full_lanes() / 32 : executions;
}

const Part& Time::longest() const {
  return *std::max_element(parts.begin(), parts.end(),
                           [](const Part& a, const Part& b) { return a.seconds < b.seconds; });
}

Time time_of(const Facts& facts, const Cure& cure) {
  const Work work = work_of(facts, cure);
  const Filling filling = filling_of(facts, cure);
  const Machine& machine = facts.machine;
  const vgpu::Footprint& f = facts.footprint;
  Time time;
  const auto add = [&](const char* name, double cycles) {
    time.parts.push_back({name, std::max(0.0, cycles) / machine.clock});
  };
  add("issue", work.slots / Machine::instructions_a_cycle / filling.sms);
  constexpr std::array<const char*, pipe_count> names = {
      "FP32 units",        "FP64 units", "integer units", "conversions",
      "special functions", "memory",     "tensor cores",  "others"};
  for (std::size_t i = 0; i < pipe_count; ++i) add(names[i], work.pipes[i] / filling.sms);
  add("shared memory", work.shared / filling.sms);
  add("L1", work.l1 / filling.sms);
  add("L2", work.l2_bytes / Machine::l2_bytes_a_cycle / filling.sms);
  // More blocks are more threads, each with less to do.
  const double split = cure.enough_blocks ? std::min(1.0, facts.blocks() / filling.sms) : 1;
  // A thread that takes 16 bytes at a time in place of one or two has less to wait for.
  const double bytes = cure.wide ? bytes_of_lane(facts.trace) : widest;
  const double fewer = bytes < 4 ? bytes / widest : 1;
  const double path = path_cycles(facts, cure) * split * fewer;
  add("latency", path * filling.rounds);
  // A chain that is longer than the others stays so, however many loads are in flight.
  Cure chain = cure;
  chain.overlapped = false;
  const double longest = cure.overlapped ? path_cycles(facts, chain) * split * fewer : path;
  const auto add_uneven = [&](const char* name, bool cured, double unevenness) {
    if (!cured && unevenness > noticeable_unevenness) add(name, longest * unevenness);
  };
  add_uneven("the longest block", cure.even_blocks,
             unevenness(f.most_of_block, f.accesses, facts.blocks()));
  add_uneven("the longest warp", cure.even_warps,
             unevenness(f.most_of_warp, f.accesses, facts.warps()));
  if (!cure.scattered_atomics) add("atomics", atomic_cycles * number(f.atomics_at_one_address));
  // A third of the SMs can saturate memory.
  const double few = std::max(1.0, machine.multiprocessors / 3.0 / filling.sms);
  time.parts.push_back({"DRAM", work.dram_bytes / machine.memory_bytes * few});
  double sum = 0;
  for (const Part& part : time.parts) sum += std::pow(part.seconds, 4);
  time.seconds = std::pow(sum, 0.25);
  time.launch = launch_seconds;
  return time;
}

}  // namespace rung::analysis::diagnosis
