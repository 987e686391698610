#include "tools/analysis/diagnosis/signs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "tools/analysis/diagnosis/dataflow.hpp"
#include "tools/analysis/diagnosis/instruction_cost.hpp"
#include "tools/analysis/diagnosis/source_names.hpp"
#include "tools/analysis/diagnosis/work.hpp"
#include "tools/analysis/resources.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis::diagnosis::signs {
namespace {

using vgpu::ptx::Instruction;

double number(std::uint64_t count) { return static_cast<double>(count); }
double share(double part, double all) { return all > 0 ? part / all : 0; }

/// The access with the largest value.
template <class F>
const Access* most(const Facts& f, const F& value) {
  const auto& accesses = f.trace.accesses;
  const auto found =
      std::max_element(accesses.begin(), accesses.end(),
                       [&](const Access& a, const Access& b) { return value(a) < value(b); });
  return found == accesses.end() ? nullptr : &*found;
}

double excess_of(const Access& access) {
  return excess_sectors(access) / number(std::max<std::uint64_t>(1, access.count.executions));
}
/// True if misalignment causes more excess sectors than scattered addresses.
bool is_mostly_misaligned(const Facts& f) {
  double least = 0;
  for (const Access& access : f.trace.accesses) {
    if (access.space == Space::global) least += least_sectors(access);
  }
  const double aligned = number(f.footprint.aligned_sectors);
  return number(f.footprint.requested_sectors) - aligned > aligned - least;
}

/// True if an access needs considerably more sectors than its words.
bool has_excess(const Facts& f) {
  const Access* access = most(f, excess_sectors);
  return access != nullptr && excess_of(*access) > 0.5;
}

const Access& worst(const Facts& f) { return *most(f, excess_sectors); }

const Instruction& instruction_of(const Facts& f, const Access& access) {
  return *f.instructions.at(access.count.ptx_line);
}

bool is_data_load(const Instruction& i) {
  return i.is_load() && (i.has("global") || i.has("shared"));
}

/// The lines of accesses whose address was itself loaded.
std::set<int> loaded_addresses(const Facts& f, Space space) {
  std::set<int> lines = lines_with_address_from(f.text, is_data_load);
  std::erase_if(lines, [&](int line) {
    return std::ranges::none_of(f.trace.accesses, [&](const Access& access) {
      return access.space == space && access.count.ptx_line == line;
    });
  });
  return lines;
}

/// The offsets from one base address that accesses use.
std::set<std::int64_t> fields_beside(const Facts& f, const Access& access) {
  const auto address_of = [&](const Access& of) -> const vgpu::ptx::Operand* {
    for (const auto& operand : instruction_of(f, of).operands) {
      if (operand.kind == vgpu::ptx::Operand::Kind::address) return &operand;
    }
    return nullptr;
  };
  std::set<std::int64_t> offsets;
  const vgpu::ptx::Operand* base = address_of(access);
  for (const Access& other : f.trace.accesses) {
    const vgpu::ptx::Operand* address = address_of(other);
    if (base != nullptr && address != nullptr && address->reg == base->reg) {
      offsets.insert(address->offset);
    }
  }
  return offsets;
}

/// " at poly.cu:15", or nothing.
std::string at_line(const Facts& f, const Instruction& instruction) {
  const auto file = static_cast<std::size_t>(instruction.source.file);
  if (file == 0 || file >= f.text.files.size() || instruction.source.line == 0) return "";
  return fmt::format(" at {}:{}", std::filesystem::path(f.text.files[file]).filename().string(),
                     instruction.source.line);
}

/// The executed instruction with the most executions of those that fit; null if none does.
template <class F>
const Instruction* hottest(const Facts& f, const F& fits) {
  const Instruction* found = nullptr;
  std::uint64_t most_executions = 0;
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    if (site.executions <= most_executions || !fits(instruction)) continue;
    found = &instruction;
    most_executions = site.executions;
  }
  return found;
}

std::string called(const Access& access) {
  return fmt::format("{}{}{}", access.is_load ? "load" : "store",
                     access.where.empty() ? "" : " at ", access.where);
}

/// The share of issued instructions for which the predicate is true.
template <class F>
double share_of(const Facts& f, const F& holds) {
  double part = 0, all = 0;
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    const double slots = cost_of(instruction, f.device).slots * number(site.executions);
    all += slots;
    if (holds(instruction, site)) part += slots;
  }
  return share(part, all);
}

double share_alone(const Facts& f) {
  return share_of(f, [](const Instruction&, const SiteCount& site) { return runs_alone(site); });
}

double idle_share(const Facts& f) {
  const vgpu::Counters& c = f.trace.counters;
  return 1 - share(number(c.thread_instructions), f.full_lanes() * number(c.instructions));
}

bool touches_doubles(const Facts& f) {
  return std::any_of(f.trace.accesses.begin(), f.trace.accesses.end(),
                     [](const Access& access) { return access.element_bytes == 8; });
}

double resident_warps(const Facts& f) { return f.occupancy.blocks * f.warps_of_block(); }

/// The number of instructions for addresses and indices per instruction on data.
double integers_for_each(const Facts& f) {
  const auto is_on = [&](const Instruction& instruction, Pipe pipe) {
    return cost_of(instruction, f.device).pipe == pipe && !is_slow(instruction);
  };
  const double integers =
      share_of(f, [&](const Instruction& i, const SiteCount&) { return is_on(i, Pipe::integer); });
  const double data = share_of(f, [&](const Instruction& i, const SiteCount&) {
    return is_on(i, Pipe::fp32) || is_on(i, Pipe::fp64) || is_on(i, Pipe::special) ||
           i.is(vgpu::ptx::Opcode::ld, vgpu::ptx::Opcode::st, vgpu::ptx::Opcode::atom,
                vgpu::ptx::Opcode::red);
  });
  return share(integers, data);
}

}  // namespace

bool is_scattered(const Facts& f) { return has_excess(f) && !is_mostly_misaligned(f); }

bool accesses_structures(const Facts& f) {
  return is_scattered(f) && accesses_member(source_line(f.text, instruction_of(f, worst(f))));
}
std::string structures(const Facts& f) {
  const std::set<std::int64_t> offsets = fields_beside(f, worst(f));
  return fmt::format(
      "{}; neighbouring threads access structures, so the fields between them "
      "are loaded, too{}",
      uncoalesced(f),
      offsets.size() < 2 ? "" : fmt::format(" ({} fields are used)", offsets.size()));
}

bool gathers(const Facts& f) {
  return is_scattered(f) && !accesses_structures(f) && worst(f).is_load &&
         loaded_addresses(f, Space::global).contains(worst(f).count.ptx_line);
}
std::string gather(const Facts& f) {
  return uncoalesced(f) + "; its addresses come from another load";
}

bool scatters_stores(const Facts& f) {
  return is_scattered(f) && !accesses_structures(f) && !worst(f).is_load;
}

bool is_uncoalesced(const Facts& f) {
  return is_scattered(f) && worst(f).is_load && !accesses_structures(f) && !gathers(f);
}
std::string uncoalesced(const Facts& f) {
  const Access& access = *most(f, excess_sectors);
  const double requests = number(access.count.executions);
  return fmt::format("a warp's {} takes {:.0f} sectors, where {:.0f} would hold its bytes",
                     called(access), number(access.count.units) / requests,
                     least_sectors(access) / requests);
}

bool is_misaligned(const Facts& f) { return has_excess(f) && is_mostly_misaligned(f); }
std::string misaligned(const Facts& f) {
  const Access& access = *most(f, excess_sectors);
  const double requests = number(access.count.executions);
  return fmt::format(
      "a warp's {} takes {:.1f} sectors where {:.0f} would do: its first byte is not "
      "at a multiple of 32",
      called(access), number(access.count.units) / requests, least_sectors(access) / requests);
}

bool has_strided_tree(const Facts& f) {
  double conflicts = 0, requests = 0;
  for (const Access& access : f.trace.accesses) {
    if (access.space != Space::shared) continue;
    conflicts += access.conflict_wavefronts();
    requests += number(access.count.executions);
  }
  return waits_for_few_warps(f) && conflicts > requests;
}

bool has_conflicts(const Facts& f) {
  if (has_strided_tree(f)) return false;
  const Access* access = most(f, [](const Access& a) { return a.conflict_wavefronts(); });
  return access != nullptr && access->conflict_wavefronts() > 0;
}
std::string conflicts(const Facts& f) {
  const Access& access = *most(f, [](const Access& a) { return a.conflict_wavefronts(); });
  const double requests = number(access.count.executions);
  return fmt::format(
      "a warp's {} takes {:.0f} wavefronts of shared memory, {:.0f} of them because "
      "its lanes need different words of the same bank",
      called(access), number(access.count.units) / requests,
      access.conflict_wavefronts() / requests);
}

std::string strided_tree(const Facts& f) {
  return fmt::format("{}; {:.0f} % of the lanes wait at the steps of a tree, {}", conflicts(f),
                     100 * idle_share(f), barriers(f));
}

bool works_alone(const Facts& f) { return share_alone(f) > 0.3; }
std::string alone(const Facts& f) {
  return fmt::format("{:.0f} % of the instructions run with one or two lanes of the warp",
                     100 * share_alone(f));
}

bool diverges(const Facts& f) {
  return !diverges_by_data(f) && f.trace.counters.divergent_branches > 0 && idle_share(f) > 0.1;
}
std::string divergence(const Facts& f) {
  return fmt::format(
      "lanes of a warp part at {:.0f} % of its branches: {:.0f} % of the lanes wait "
      "while others work",
      100 * share(number(f.trace.counters.divergent_branches), number(f.trace.counters.branches)),
      100 * idle_share(f));
}

bool diverges_by_data(const Facts& f) {
  if (f.trace.counters.divergent_branches == 0 || idle_share(f) <= 0.1) return false;
  const std::set<int> decided = branches_decided_by(f.text, is_data_load);
  double by_data = 0, all = 0;
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    if (instruction.opcode != vgpu::ptx::Opcode::bra || instruction.guard < 0) continue;
    const double idle =
        f.full_lanes() * number(site.executions) - number(site.lanes) + number(site.executions);
    all += idle;
    if (decided.contains(site.ptx_line)) by_data += idle;
  }
  return by_data > 0.5 * all;
}
std::string divergence_by_data(const Facts& f) {
  return divergence(f) + "; loaded values decide these branches";
}

bool has_partial_warps(const Facts& f) { return f.full_lanes() < 29; }
std::string partial_warps(const Facts& f) {
  return fmt::format(
      "a block of {} threads takes {:.0f} warps of 32: {:.0f} % of the lanes have no "
      "thread",
      f.trace.block.count(), f.warps_of_block(), 100 * (1 - f.full_lanes() / 32));
}

bool has_few_blocks(const Facts& f) { return f.blocks() < f.machine.multiprocessors; }
std::string few_blocks(const Facts& f) {
  return fmt::format("{:.0f} block{} for {} SMs", f.blocks(), f.blocks() == 1 ? "" : "s",
                     f.machine.multiprocessors);
}

bool has_tail(const Facts& f) { return f.blocks() > f.machine.multiprocessors; }
std::string tail(const Facts& f) {
  const double one = f.machine.multiprocessors * std::max(1, f.occupancy.blocks);
  return fmt::format(
      "{:.0f} blocks are {:.2f} waves of {:.0f}: during the last one, most SMs have "
      "less to do",
      f.blocks(), f.blocks() / one, one);
}

/// The number of accesses of the warp or block with the most, relative to the mean.
double unevenness(const Facts& f, std::uint64_t most, double of) {
  return share(number(most) * of, number(f.footprint.accesses));
}

/// If a block has more work because of a single warp, the finding is about warps.
bool has_uneven_blocks(const Facts& f) {
  const double blocks = unevenness(f, f.footprint.max_of_block, f.blocks());
  const double warps = unevenness(f, f.footprint.max_of_warp, f.warps());
  const bool by_one_warp = has_uneven_warps(f) && warps > 2 * blocks;
  return blocks > 2 && !by_one_warp;
}
std::string uneven_blocks(const Facts& f) {
  return fmt::format(
      "one block makes {:.1f} times as many accesses as the mean block",
      share(number(f.footprint.max_of_block) * f.blocks(), number(f.footprint.accesses)));
}

bool has_uneven_warps(const Facts& f) {
  return !has_frequent_barriers(f) &&
         number(f.footprint.max_of_warp) * f.warps() > 2 * number(f.footprint.accesses);
}
std::string uneven_warps(const Facts& f) {
  return fmt::format(
      "one warp makes {:.1f} times as many accesses as the mean warp, and the others "
      "of its block wait for it",
      share(number(f.footprint.max_of_warp) * f.warps(), number(f.footprint.accesses)));
}

/// True if registers limit the blocks, and a limit that allows one more block makes ptxas spill.
bool needs_its_registers(const Facts& f) {
  const vgpu::Occupancy& o = f.occupancy;
  if (f.spills_with == nullptr || o.blocks == 0 || o.limit_by_registers != o.blocks) return false;
  const double of_thread =
      f.device.registers_per_multiprocessor / (o.blocks + 1.0) / (32 * f.warps_of_block());
  return (*f.spills_with)(static_cast<int>(of_thread) / 8 * 8);
}

bool has_few_warps(const Facts& f) {
  const double blocks_here = std::ceil(f.blocks() / f.machine.multiprocessors);
  return f.occupancy.fraction <= 0.5 && blocks_here >= f.occupancy.blocks &&
         !needs_its_registers(f);
}
std::string few_warps(const Facts& f) {
  return fmt::format(
      "an SM holds {:.0f} warps of this kernel, {:.0f} % of what it could: {} limit "
      "it to {} block{}",
      resident_warps(f), 100 * f.occupancy.fraction, binding_limit(f.occupancy), f.occupancy.blocks,
      f.occupancy.blocks == 1 ? "" : "s");
}

/// True if most loads from global memory are links of chains.
bool chases(const Facts& f) {
  const std::set<int> links = lines_with_own_address(
      f.text, [&](const Instruction& i) { return i.is_load() && i.has("global"); });
  double chained = 0, all = 0;
  for (const Access& access : f.trace.accesses) {
    if (access.space != Space::global || !access.is_load) continue;
    all += number(access.count.executions);
    if (links.contains(access.count.ptx_line)) chained += number(access.count.executions);
  }
  return chained > 2 * f.warps() && chained > 0.4 * all;
}
std::string chain_of_loads(const Facts& f) {
  const std::set<int> links = lines_with_own_address(
      f.text, [&](const Instruction& i) { return i.is_load() && i.has("global"); });
  const Instruction* link =
      hottest(f, [&](const Instruction& i) { return links.contains(i.line); });
  return fmt::format(
      "the address of the load{} comes from the load before (a chain of dependent loads), and "
      "{:.0f} "
      "warps to an SM have only as many in flight",
      link == nullptr ? "" : at_line(f, *link), resident_blocks(f) * f.warps_of_block());
}

bool waits_for_loads(const Facts& f) {
  return !chases(f) &&
         f.trace.counters.global_load_requests + f.trace.counters.shared_load_requests > 0;
}
std::string waiting(const Facts& f) {
  return fmt::format(
      "each load waits for the one before it, or for arithmetic: {:.0f} warps to an "
      "SM cannot hide that latency",
      std::min(resident_warps(f),
               std::ceil(f.blocks() / f.machine.multiprocessors) * f.warps_of_block()));
}

bool uses_local_memory(const Facts& f) {
  const vgpu::Counters& c = f.trace.counters;
  return f.local_share * number(c.local_load_requests + c.local_store_requests) > 0;
}
std::string local_memory(const Facts& f) {
  const vgpu::Counters& c = f.trace.counters;
  const Instruction* access = hottest(f, [](const Instruction& i) { return i.has("local"); });
  const std::string array = access == nullptr ? "" : array_of(f.text, *access);
  const std::string what = array.empty() ? "an array" : fmt::format("the array {}", array);
  return fmt::format(
      "{:.0f} % of the instructions load or store local memory: {}{} has an index that is not "
      "known at compile time, so it is no register",
      100 * share(number(c.local_load_requests + c.local_store_requests), number(c.instructions)),
      what, access == nullptr ? "" : at_line(f, *access));
}

bool spills(const Facts& f) { return f.spills.all() > 0; }
std::string spilled(const Facts& f) {
  const Instruction* busy = hottest(f, [&](const Instruction& i) {
    const Pipe pipe = cost_of(i, f.device).pipe;
    return pipe == Pipe::fp32 || pipe == Pipe::fp64 || pipe == Pipe::integer;
  });
  return fmt::format(
      "ptxas keeps {} bytes per thread in local memory for want of registers, and a warp makes "
      "{:.0f} accesses to them{}",
      f.spills.frame, f.spills.all() / f.warps(),
      busy == nullptr ? "" : fmt::format(", most in the code{}", at_line(f, *busy)));
}

bool contends_in_global_atomics(const Facts& f) {
  return f.footprint.atomics_at_one_address >= 1024;
}
std::string global_atomics(const Facts& f) {
  return fmt::format("{} atomics meet at one address in global memory, which serves one at a time",
                     f.footprint.atomics_at_one_address);
}

bool contends_in_shared_atomics(const Facts& f) {
  return f.footprint.shared_atomic_turns > 2 * f.trace.counters.shared_atomics;
}
std::string shared_atomics(const Facts& f) {
  return fmt::format(
      "lanes of a warp meet at one address of shared memory: an atomic takes {:.1f} "
      "turns",
      share(number(f.footprint.shared_atomic_turns), number(f.trace.counters.shared_atomics)));
}

bool has_barriers(const Facts& f) { return !has_strided_tree(f) && f.trace.counters.barriers > 0; }
std::string barriers(const Facts& f) {
  const vgpu::Counters& c = f.trace.counters;
  return fmt::format("a warp waits at a barrier every {:.0f} instructions",
                     share(number(c.instructions), number(c.barriers)));
}

bool has_narrow_accesses(const Facts& f) {
  return bytes_of_lane(f.trace) > 0 && bytes_of_lane(f.trace) <= 4;
}
std::string narrow(const Facts& f) {
  return fmt::format("an access moves {:.2g} of 16 possible bytes a lane", bytes_of_lane(f.trace));
}

/// The share of loads from a space whose address was itself loaded. Their addresses are not known
/// in advance, so neither tiling nor registers can help.
double share_chased(const Facts& f, Space space) {
  const std::set<int> chased = lines_with_address_from(f.text, [](const Instruction& i) {
    return i.is_load() && (i.has("global") || i.has("shared"));
  });
  double part = 0, all = 0;
  for (const Access& access : f.trace.accesses) {
    if (access.space != space || !access.is_load) continue;
    all += number(access.count.executions);
    if (chased.contains(access.count.ptx_line)) part += number(access.count.executions);
  }
  return share(part, all);
}

bool loads_again(const Facts& f) {
  return times_loaded(f) >= 4 && share_chased(f, Space::global) < 0.5;
}
std::string repeated_loads(const Facts& f) {
  return fmt::format("a block loads each byte {:.0f} times from global memory", times_loaded(f));
}

/// With 8 x 8 results per thread, little improvement remains.
bool loads_shared_often(const Facts& f) {
  constexpr double large_tile_cycles = 0.3;
  const double loads = 32 * number(f.trace.counters.shared_load_requests);
  return loads > large_tile_cycles * f.trace.multiply_adds && share_chased(f, Space::shared) < 0.5;
}
std::string shared_loads(const Facts& f) {
  if (f.trace.multiply_adds == 0) {
    return fmt::format("a warp loads from shared memory every {:.1f} instructions",
                       share(number(f.trace.counters.instructions),
                             number(f.trace.counters.shared_load_requests)));
  }
  return fmt::format(
      "{:.2g} loads from shared memory for each multiply-add",
      share(32 * number(f.trace.counters.shared_load_requests), f.trace.multiply_adds));
}

bool uses_doubles_needlessly(const Facts& f) {
  return !touches_doubles(f) && share_of(f, [](const Instruction& instruction, const SiteCount&) {
                                  return instruction.has("f64");
                                }) > 0.02;
}
std::string doubles(const Facts& f) {
  return fmt::format(
      "{:.0f} % of the instructions compute in double precision, though all data are "
      "single: a literal without f, or a function of double",
      100 * share_of(f, [](const Instruction& instruction, const SiteCount&) {
        return instruction.has("f64");
      }));
}

double share_divided(const Facts& f, bool integers) {
  return share_of(f, [&](const Instruction& i, const SiteCount&) {
    return is_slow(i) && (i.has("f32") || i.has("f64")) != integers;
  });
}
bool divides_integers(const Facts& f) {
  return share_divided(f, true) > std::max(0.1, share_divided(f, false));
}

bool divides(const Facts& f) {
  if (divides_integers(f)) return false;
  // Excludes those in double precision if doubles are reported as unnecessary.
  const bool but_doubles = uses_doubles_needlessly(f);
  return share_of(f, [&](const Instruction& i, const SiteCount&) {
           return is_slow(i) && !(but_doubles && i.has("f64"));
         }) > 0.1;
}
std::string divisions(const Facts& f) {
  return fmt::format(
      "divisions, remainders and square roots take {:.0f} % of the issue slots: each "
      "becomes 9 to 80 instructions",
      100 * share_of(f, [](const Instruction& i, const SiteCount&) { return is_slow(i); }));
}

bool computes_addresses(const Facts& f) { return integers_for_each(f) > 6; }
std::string addresses(const Facts& f) {
  return fmt::format(
      "{:.0f} integer instructions for each access or operation on data: addresses and indices",
      integers_for_each(f));
}

bool passes_again(const Facts& f) { return share_reloaded(f) > 0.2; }
std::string passes(const Facts& f) {
  const double block = 32 * number(f.footprint.loaded_sectors_by_block) / f.blocks();
  return fmt::format(
      "{:.0f} % of the loaded sectors were loaded before by the same warp: {:.1f} passes over "
      "{:.3g} "
      "KB per block, which {:.0f} blocks of an SM cannot keep in its L1",
      100 * share_reloaded(f), 1 / (1 - std::min(0.99, share_reloaded(f))), block / 1024,
      resident_blocks(f));
}

/// A product of matrices with 16-bit operands: each loaded element serves many multiply-adds.
bool leaves_tensor_cores_idle(const Facts& f) {
  constexpr double least_uses = 16;
  if (f.device.arch() < 70 || is_apple(f.device) || f.trace.matrix_units.instructions > 0)
    return false;
  double halves = 0;  // operands that are converted, or multiplied as they are
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    const bool is_half = instruction.has("f16") || instruction.has("bf16") ||
                         instruction.has("f16x2") || instruction.has("bf16x2");
    const bool takes_half =
        instruction.opcode == vgpu::ptx::Opcode::cvt || is_multiply_add(instruction, false);
    if (is_half && takes_half) halves += number(site.lanes);
  }
  const double elements = 16 * number(f.footprint.loaded_sectors);
  return halves > f.trace.multiply_adds / least_uses &&
         f.trace.multiply_adds > least_uses * elements;
}
std::string idle_tensor_cores(const Facts& f) {
  return fmt::format(
      "{:.3g} multiply-adds of 16-bit operands, {:.0f} for each loaded element, run "
      "on the FP32 units",
      f.trace.multiply_adds, f.trace.multiply_adds / (16 * number(f.footprint.loaded_sectors)));
}

bool stores_again(const Facts& f) { return times_stored(f) >= 4; }
std::string repeated_stores(const Facts& f) {
  return fmt::format("each result is stored {:.0f} times to global memory", times_stored(f));
}

}  // namespace rung::analysis::diagnosis::signs
