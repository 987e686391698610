#include "tools/analysis/diagnosis/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "tools/analysis/diagnosis/path.hpp"
#include "tools/analysis/diagnosis/work.hpp"
#include "tools/analysis/overlap.hpp"

namespace rung::analysis::diagnosis {
namespace {

// Constants measured on an H200; docs/notes/virtual-gpu.md has the data.

// The startup time that a kernel has in addition to that of an empty kernel: cache misses of its
// first instructions and its parameters.
constexpr double first_instructions_seconds = 0.8e-6;
// The interval between block launches on an SM, which limits short blocks; and the time from the
// end of a block to the first instruction of its successor.
constexpr double block_launch_cycles = 160, turnover_cycles = 400;
// The parts of the time that are latencies of dependent instructions.
constexpr const char* chain_name = "latency";
constexpr const char* atomics_name = "atomics";
constexpr const char* dram_name = "DRAM";
constexpr std::string_view longest_name = "the longest ";

/// The distribution of blocks over the device.
struct Filling {
  double sms;        // the number of SMs that share the work
  double rounds;     // waves of resident blocks
  double warps;      // concurrently resident per SM
  double share = 1;  // of a block's work, if a cure distributes it over more warps
};

Filling filling_of(const Facts& facts, const Cure& cure) {
  const double sms = facts.machine.multiprocessors, blocks = facts.blocks();
  const double max_warps = facts.device.max_warps_per_multiprocessor;
  const double resident = cure.full_occupancy ? std::max(1.0, max_warps / facts.warps_of_block())
                                              : std::max(1, facts.occupancy.blocks);
  const double of_one = blocks / sms;
  const double now = std::ceil(of_one) * facts.warps_of_block();
  // If all blocks are resident at once, additional warps share the work of the existing ones.
  if (cure.full_occupancy && of_one >= 1 && std::ceil(of_one) <= facts.occupancy.blocks) {
    return {blocks / std::ceil(of_one), 1, max_warps, std::min(1.0, now / max_warps)};
  }
  const double warps = std::min(resident, std::ceil(of_one)) * facts.warps_of_block();
  if (of_one < 1) return {cure.enough_blocks ? sms : blocks, 1, warps};
  // The SM with the most blocks finishes last.
  const double sm_rounds = cure.no_tail ? of_one : std::ceil(of_one);
  const double rounds = cure.no_tail ? of_one / resident : std::ceil(of_one / resident);
  return {blocks / sm_rounds, std::max(1.0, rounds), warps};
}

/// With whole warps, fewer blocks are needed.
double blocks_of(const Facts& facts, const Cure& cure) {
  return facts.blocks() * (cure.whole_warps ? facts.full_lanes() / 32 : 1);
}

/// True if the multiply-adds of a step overlap with loads of the next step's operands from shared
/// memory.
bool loads_ahead(const Facts& facts) {
  constexpr double least_multiply_adds = 16;
  return overlap(facts.trace, facts.text).shared.value_or(0) >= least_multiply_adds;
}

/// True if threads mostly work on arrays of their own, so that more threads would not shorten the
/// work of one.
bool works_on_private_data(const Facts& facts) {
  const vgpu::Counters& c = facts.trace.counters;
  return c.local_load_requests + c.local_store_requests > c.global_load_requests;
}

/// The number of warps of an SM that overlap each other. Frequent barriers keep the warps of a
/// block in the same phase, so phases overlap only between blocks. The effect is smaller with
/// concurrent asynchronous copies, and absent if a warp overlaps its own phases. In a tree
/// reduction, where few warps work while the others wait at the next barrier, only blocks overlap.
/// Bulk copies overlap independently of warps.
double independent_warps(const Facts& facts, const Filling& filling, const Cure& cure) {
  constexpr double share_in_step = 0.9, share_beside_copies = 0.6;  // of the warps of a block
  if (facts.trace.counters.bulk_load_sectors > 0) {
    return facts.device.max_warps_per_multiprocessor;
  }
  if (!has_frequent_barriers(facts)) return filling.warps;
  if (waits_for_few_warps(facts)) {
    const bool cured = cure.even_warps || cure.no_barriers;
    return cured ? filling.warps : filling.warps / facts.warps_of_block();
  }
  if (loads_ahead(facts)) return filling.warps;
  const bool copies = std::ranges::any_of(facts.trace.accesses, &Access::asynchronous);
  const double in_step = copies ? share_beside_copies : share_in_step;
  return std::max(1.0, filling.warps - in_step * facts.warps_of_block());
}

double power_sum(std::initializer_list<double> values, double power) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value, power);
  return std::pow(sum, 1 / power);
}

/// Combines the parts of the time. They overlap better with more warps per SM: the times of a
/// single warp's phases add up (power 1), whereas with many warps the longest part hides most of the
/// others. Instruction issue and the pipelines are busy with the same instructions, and the longest
/// dependency chains are among all chains, so only the longest of each group counts. Atomics at one
/// address are serialized in L2, independently of the SMs.
double overlapping(const std::vector<Part>& parts, double warps) {
  constexpr double warps_of_power = 10, max_warps_of_power = 25, power_of_atomics = 5;
  const double power = 1 + std::min(warps, max_warps_of_power) / warps_of_power;
  constexpr std::size_t of_instructions = 1 + pipe_count;
  // Issue and floating point are busy with the same instructions. The other pipes are narrower, and
  // warps that wait for one of them leave slots empty.
  constexpr double power_of_pipes = 3;
  double instructions = 0, chains = 0, others = 0, atomics = 0, narrow = parts.front().seconds;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, seconds] = parts[i];
    if (i < of_instructions) {
      const bool is_narrow = name == "integer units" || name == "integer products" ||
                             name == "conversions" || name == "special functions";
      if (is_narrow) narrow = power_sum({narrow, seconds}, power_of_pipes);
      instructions = std::max({instructions, seconds, narrow});
    } else if (name == chain_name || name.starts_with(longest_name)) {
      chains = std::max(chains, seconds);
    } else if (name == atomics_name) {
      atomics = seconds;
    } else {
      others = power_sum({others, seconds}, power);
    }
  }
  return power_sum({power_sum({instructions, chains, others}, power), atomics}, power_of_atomics);
}

std::vector<Part> parts_of(const Facts& facts, const Filling& filling, const Cure& cure) {
  const Work work = work_of(facts, cure);
  const Machine& machine = facts.machine;
  const vgpu::Footprint& f = facts.footprint;
  std::vector<Part> parts;
  const auto add = [&](const char* name, double cycles) {
    parts.push_back({name, std::max(0.0, cycles) / machine.clock});
  };
  // The first parts are occupied by the same instructions.
  add("issue", work.slots / Machine::instructions_a_cycle / filling.sms);
  constexpr std::array<const char*, pipe_count> names = {
      "FP32 units",        "FP64 units", "integer units", "integer products", "conversions",
      "special functions", "memory",     "tensor cores",  "barriers",         "others"};
  for (std::size_t i = 0; i < pipe_count; ++i) add(names[i], work.pipes[i] / filling.sms);
  add("shared memory", work.shared / filling.sms);
  add("L1", work.l1 / filling.sms);
  add("L2", work.l2 / filling.sms);
  // With accesses of 16 bytes instead of 1 or 2, fewer threads are needed, which wait less in
  // total.
  const double bytes = cure.wide ? bytes_of_lane(facts.trace) : widest;
  const double fewer = bytes < 4 ? bytes / widest : 1;
  add("block launches", block_launch_cycles * blocks_of(facts, cure) * fewer / filling.sms);
  // More blocks are more threads, each with less to do.
  const double split = filling.share * (cure.enough_blocks && !works_on_private_data(facts)
                                            ? std::min(1.0, facts.blocks() / filling.sms)
                                            : 1);
  const Path path = path_of(facts, cure);
  // Issue cycles of the warp are already counted under "issue".
  const double issued = std::min(path.issued * split * fewer * filling.rounds,
                                 work.slots / Machine::instructions_a_cycle / filling.sms);
  add(chain_name,
      path.all * split * fewer * filling.rounds - issued + turnover_cycles * (filling.rounds - 1));
  // A chain longer than the others remains so even with more loads in flight.
  Cure chain = cure;
  chain.overlapped = false;
  const auto add_uneven = [&](const char* name, bool cured, double unevenness, double rounds) {
    if (cured || unevenness <= noticeable_unevenness) return;
    add(name, path_of(facts, chain, unevenness).all * split * fewer * rounds);
  };
  const bool even_warps = cure.even_warps || (cure.no_barriers && has_frequent_barriers(facts));
  add_uneven("the longest block", cure.even_blocks,
             unevenness(f.max_of_block, f.accesses, facts.blocks()), 1);
  add_uneven("the longest warp", has_frequent_barriers(facts) || cure.even_blocks || even_warps,
             unevenness(f.max_of_warp, f.accesses, facts.warps()), 1);
  add_uneven("the longest warp of each block", even_warps, unevenness_of_warps(facts),
             filling.rounds);
  if (work.atomics > 0) add(atomics_name, work.atomics);
  // A third of the SMs suffices to saturate memory.
  const double few = std::max(1.0, machine.multiprocessors / 3.0 / filling.sms);
  parts.push_back({dram_name, work.dram_bytes / machine.memory_bytes * few});
  return parts;
}

/// Adds prologue and epilogue. Bulk copies overlap with everything else in a block's main loop,
/// except its first copies and last stores, which reach DRAM later.
double with_ends(const Facts& facts, const Filling& filling, const Cure& cure,
                 const std::vector<Part>& parts) {
  const Facts of_ends = {*facts.ends,           facts.text,   facts.instructions,
                         facts.ends->footprint, facts.device, facts.machine,
                         facts.occupancy,       std::nullopt, facts.launch_seconds};
  std::vector<Part> ends = parts_of(of_ends, filling, cure), main = parts;
  std::erase_if(ends, [](const Part& part) { return part.name == dram_name; });
  for (Part& part : main) {
    const auto end = std::ranges::find(ends, part.name, &Part::name);
    if (end != ends.end()) part.seconds = std::max(0.0, part.seconds - end->seconds);
  }
  return overlapping(main, independent_warps(facts, filling, cure)) +
         overlapping(ends, filling.warps);
}

/// The bound: all SMs, each byte once, and only arithmetic on data. Integers count as arithmetic in
/// kernels that hardly compute anything else.
Part bound_of(const Facts& facts) {
  Cure ideal;
  ideal.coalesced = ideal.one_pass = ideal.no_local = ideal.no_spills = true;
  const Work work = work_of(facts, ideal);
  const Machine& machine = facts.machine;
  const auto seconds = [&](double cycles) {
    return cycles / machine.multiprocessors / machine.clock;
  };
  const auto pipe = [&](Pipe of) { return seconds(work.pipes[static_cast<std::size_t>(of)]); };
  const double flops =
      facts.trace.matrix_units.instructions > 0 ? 0 : 2 * facts.trace.multiply_adds;
  std::vector<Part> parts = {{dram_name, work.dram_bytes / machine.memory_bytes},
                             {"FMA", flops / machine.flops},
                             {"FP64", pipe(Pipe::fp64)},
                             {"special function", pipe(Pipe::special)},
                             {"tensor core", pipe(Pipe::matrix)}};
  const double floats = pipe(Pipe::fp32) - pipe(Pipe::multiply) / 2;
  const double integers = std::max(pipe(Pipe::integer), pipe(Pipe::multiply));
  if (integers > 4 * floats + parts[0].seconds) {
    parts.push_back({"integer", integers});
  } else if (flops == 0) {
    parts.push_back({"FP32", floats});
  }
  return *std::ranges::max_element(parts, {}, &Part::seconds);
}

std::string in_unit_of(double seconds, double of) {
  const double unit = of >= 1e-3 ? 1e-3 : 1e-6;
  return fmt::format("{:.3g}", seconds / unit);
}

std::string with_unit(double seconds) {
  return fmt::format("{} {}", in_unit_of(seconds, seconds), seconds >= 1e-3 ? "ms" : "us");
}

}  // namespace

bool is_at_bound(const Time& time) {
  constexpr double near = 1.3;
  return time.bound.seconds > 0 && time.above_bound() < near;
}

std::string bound_text(const Time& time) {
  const Part& bound = time.bound;
  if (is_at_bound(time)) {
    return fmt::format("{} {} of {}: at the bound", bound.name,
                       in_unit_of(std::min(bound.seconds, time.seconds), time.seconds),
                       with_unit(time.seconds));
  }
  std::vector<Part> rest = time.parts;
  std::erase_if(rest, [&](const Part& part) {
    return part.name.starts_with(bound.name) || part.seconds < 0.15 * time.seconds;
  });
  std::ranges::stable_sort(rest, std::ranges::greater{}, &Part::seconds);
  constexpr std::size_t most = 3;
  if (rest.size() > most) rest.resize(most);
  std::string text;
  for (const Part& part : rest) {
    text += fmt::format("{}{} {}", text.empty() ? "; of the rest, " : ", ", part.name,
                        with_unit(part.seconds));
  }
  if (rest.size() > 1) text += ", partly at once";
  if (bound.seconds < time.seconds / 1000) {
    return fmt::format("no bound by data or arithmetic; {} is predicted{}", with_unit(time.seconds),
                       text);
  }
  return fmt::format("{:.1f} times above the {} bound of {}{}", time.above_bound(), bound.name,
                     with_unit(bound.seconds), text);
}

const Part& Time::longest() const {
  return *std::max_element(parts.begin(), parts.end(),
                           [](const Part& a, const Part& b) { return a.seconds < b.seconds; });
}

void add_launch(Time& call, const Time& launch) {
  for (const Part& part : launch.parts) {
    const auto found = std::ranges::find(call.parts, part.name, &Part::name);
    if (found == call.parts.end()) {
      call.parts.push_back(part);
    } else {
      found->seconds += part.seconds;
    }
  }
  call.seconds += launch.seconds;
  if (launch.bound.seconds > call.bound.seconds) call.bound.name = launch.bound.name;
  call.bound.seconds += launch.bound.seconds;
  call.launch = call.launch == 0 ? launch.launch : call.launch + next_launch_seconds;
}

Time time_of(const Facts& facts, const Cure& cure) {
  const Filling filling = filling_of(facts, cure);
  Time time;
  time.parts = parts_of(facts, filling, cure);
  const bool apart = facts.ends != nullptr && facts.trace.counters.bulk_load_sectors > 0;
  time.seconds = apart ? with_ends(facts, filling, cure, time.parts)
                       : overlapping(time.parts, independent_warps(facts, filling, cure));
  time.launch = facts.launch_seconds + first_instructions_seconds;
  time.bound = bound_of(facts);
  return time;
}

}  // namespace rung::analysis::diagnosis
