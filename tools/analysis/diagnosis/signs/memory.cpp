// Signs of traffic with memory: sectors, wavefronts, reuse and contention.

#include "tools/analysis/diagnosis/signs/common.hpp"

namespace rung::analysis::diagnosis::signs {
namespace {

/// The access with the largest value.
template <class F>
const Access* most(const Facts& f, const F& value) {
  const auto& accesses = f.trace.accesses;
  const auto found =
      std::max_element(accesses.begin(), accesses.end(),
                       [&](const Access& a, const Access& b) { return value(a) < value(b); });
  return found == accesses.end() ? nullptr : &*found;
}

/// Excess sectors per request.
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

std::string called(const Access& access) {
  return fmt::format("{}{}{}", access.is_load ? "load" : "store",
                     access.where.empty() ? "" : " at ", access.where);
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
    return pipe == Pipe::fp32 || pipe == Pipe::fp64 || pipe == Pipe::integer ||
           pipe == Pipe::multiply;
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

bool adds_once_per_block(const Facts& f) {
  return contends_in_global_atomics(f) && number(f.footprint.atomics_at_one_address) <= f.blocks();
}
std::string atomics_of_blocks(const Facts& f) {
  return fmt::format(
      "each of {} blocks adds once to one address in global memory, which serves one at a time",
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

bool has_narrow_accesses(const Facts& f) {
  return bytes_of_lane(f.trace) > 0 && bytes_of_lane(f.trace) <= 4;
}
std::string narrow(const Facts& f) {
  return fmt::format("an access moves {:.2g} of 16 possible bytes a lane", bytes_of_lane(f.trace));
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
  return loads > large_tile_cycles * f.trace.multiply_adds && !steps_through_shared(f) &&
         share_chased(f, Space::shared) < 0.5;
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

bool stores_again(const Facts& f) { return times_stored(f) >= 4; }
std::string repeated_stores(const Facts& f) {
  return fmt::format("each result is stored {:.0f} times to global memory", times_stored(f));
}

}  // namespace rung::analysis::diagnosis::signs
