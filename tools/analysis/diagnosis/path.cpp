#include "tools/analysis/diagnosis/path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/analysis/diagnosis/dataflow.hpp"
#include "tools/analysis/diagnosis/instruction_cost.hpp"
#include "tools/analysis/diagnosis/work.hpp"
#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis::diagnosis {
namespace {

using vgpu::ptx::Instruction;
using vgpu::ptx::Opcode;
using vgpu::ptx::Operand;

// Cycles from the issue of a load until its value is available, from microbenchmarks (Luo et al.,
// 2024, for Hopper; Jia et al., 2018, for Volta and Turing; they differ by less than a third).
constexpr double l1_latency = 40, l2_latency = 270, dram_latency = 800;
constexpr double shared_latency = 30, atomic_latency = 300, shared_atomic_latency = 60;
constexpr double barrier_latency = 30, branch_latency = 10;
constexpr int unrolled = 4;
// A loop with one load and no more instructions than this is unrolled again by as much.
constexpr std::size_t longest_unrolled_twice = 14;
// Floating-point instructions start at most this many before the order of the text: ptxas saves
// registers. Loads and their addresses come as early as they can.
constexpr std::size_t window = 8;
// ptxas does not unroll longer loops, nor those with more than twice these loads; with more than
// these, half as often.
constexpr std::size_t longest_unrolled = 96, max_loads = 4;
// ptxas replaces a branch around a shorter block by predication, so nothing waits for the branch.
constexpr std::size_t longest_predicated = 6;

/// The mean latency of a warp's load, which waits for its last sector. `levels`: latencies, the
/// longest first, and the sectors that have them. Sectors arrive together, except partly
/// those with loaded addresses.
double of_last_sector(const Facts& facts, const Cure& cure,
                      std::initializer_list<std::pair<double, double>> levels) {
  double sectors = 0, least = 0, all = 0;
  for (const Access& access : facts.trace.accesses) {
    if (access.space != Space::global || !access.is_load) continue;
    sectors += static_cast<double>(access.count.units);
    least += least_sectors(access);
  }
  for (const auto& [latency, count] : levels) all += count;
  if (all <= 0) return 0;
  const bool together = cure.coalesced || !has_loaded_addresses(facts);
  const double apart = together ? 1 : std::sqrt(std::max(1.0, sectors / std::max(1.0, least)));
  double rest = 1, mean = 0, later = all;
  for (const auto& [latency, count] : levels) {
    later -= count;
    const double none = std::pow(std::max(0.0, later / all), apart);
    mean += (rest - none) * latency;
    rest = none;
  }
  return mean;
}

/// The mean latency of loads from global memory, from the level of the hierarchy that holds their
/// sectors.
double global_latency(const Facts& facts, const Cure& cure, const vgpu::SiteLoads& loads) {
  const auto requested = static_cast<double>(loads.requested);
  if (requested == 0) return l2_latency;
  const double first = std::min(requested, static_cast<double>(loads.first));
  // The warps of a block, and concurrently started blocks, wait for the same sectors. On average,
  // those after the first wait for half of its latency.
  const double resident =
      static_cast<double>(std::max(1, facts.occupancy.blocks)) * facts.machine.multiprocessors;
  const double together = std::min(1.0, resident / facts.blocks());
  const double by_warp = std::clamp(static_cast<double>(loads.by_warp), first, requested);
  // Warps that load the same sectors at about the same time go through memory in the same order;
  // those with loaded addresses do not.
  const double followers =
      has_loaded_addresses(facts) ? 0 : std::max(0.0, by_warp * together - first);
  const double share = requested / static_cast<double>(facts.trace.counters.global_load_sectors);
  const double again =
      std::min(cure.one_pass ? 0 : share * reloads_of(facts).from_l2, requested - by_warp);
  const double from_l2 = by_warp - first - followers + again;
  const double at_once = cure.overlapped && facts.trace.counters.barriers > 0 ? unrolled : 1;
  const double mean = of_last_sector(facts, cure,
                                     {{dram_latency, first},
                                      {(dram_latency + l2_latency) / 2, followers},
                                      {l2_latency, from_l2},
                                      {l1_latency, std::max(0.0, requested - by_warp - again)}}) /
                      at_once;
  if (!cure.reused) return mean;
  const double kept = 1 / std::max(1.0, times_loaded(facts));
  return kept * mean + (1 - kept) * shared_latency;
}

/// The part of the path that remains without later passes over the same data, or if one instruction
/// multiplies matrices.
double path_kept(const Facts& facts, const Cure& cure) {
  return (cure.one_pass ? 1 - share_reloaded(facts) : 1) /
         (cure.tensor_cores ? tensor_core_gain : 1);
}

void collect(const Operand& operand, std::vector<int>& registers) {
  if (operand.reg >= 0) registers.push_back(operand.reg);
  for (const Operand& element : operand.elements) collect(element, registers);
}

/// Traverses the instructions of a function. Times are cycles of one warp.
class Walk {
 public:
  Walk(const Facts& facts, const Cure& cure, double unevenness)
      : facts_(facts), cure_(cure), unevenness_(unevenness) {
    const vgpu::Footprint& f = facts.footprint;
    global_latency_ = global_latency(facts, cure,
                                     {facts.trace.counters.global_load_sectors, f.loaded_sectors,
                                      f.loaded_sectors_by_block, f.loaded_sectors_by_warp});
    for (const auto& [line, loads] : f.loads) {
      latency_of_line_[line] = global_latency(facts, cure, loads);
      loads_of_line_[line] = loads;
    }
    merged_ = merged_lines(facts.text);
    const double misses = local_misses(facts);
    local_latency_ = misses * l2_latency + (1 - misses) * l1_latency;
    for (const SiteCount& site : facts.trace.sites) {  // one per inlined call
      SiteCount& all = sites_[site.ptx_line];
      all.executions += site.executions;
      all.lanes += site.lanes;
    }
    for (const Access& access : facts.trace.accesses) accesses_[access.count.ptx_line] = &access;
  }

  Path function(const vgpu::ptx::Function& function) {
    ready_.clear();
    predicated_.clear();
    now_ = decided_ = called_ = 0;
    starts_.clear();
    for (Order& order : orders_) order = {};
    copied_ = 0;
    groups_.clear();
    const std::vector<vgpu::CfgBlock> blocks = vgpu::control_flow(function).blocks;
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      if (!skips_a_little(blocks, at)) continue;
      predicated_.insert(function.body[blocks[at].first + blocks[at].count - 1].line);
    }
    Path total;
    for (std::size_t i = 0; i < blocks.size();) {
      const std::size_t end_of_body = end_of_loop(blocks, i);
      const bool loops = end_of_body > i + 1 || is_successor(blocks[i], i);
      const std::size_t end = loops ? end_of_body : end_of_predicated(blocks, i);
      Body body, seldom;
      for (std::size_t at = i; at < end; ++at) {
        const double executions = executions_of(function, blocks[at]);
        // Blocks executed in few iterations are counted separately.
        const bool often = body.empty() || executions > executions_of(function, *body.front()) / 2;
        if (executions > 0 && often) body.push_back(&blocks[at]);
        if (executions > 0 && !often) seldom.push_back(&blocks[at]);
      }
      // All warps arrive at a barrier equally often.
      const bool together = loops && waits_at_barrier(function, body);
      if (!body.empty()) {
        const double executions = executions_of(function, *body.front());
        total.add(duration(function, body, loops),
                  together ? executions / facts_.warps() : times_of_warp(executions, loops));
      }
      for (const vgpu::CfgBlock* block : seldom) {
        double times = times_of_warp(executions_of(function, *block), false);
        if (together) {
          times = std::min(times, executions_of(function, *body.front()) / facts_.warps());
        }
        total.add(pass(function, {block}, 1), times);
      }
      i = end;
    }
    return total;
  }

 private:
  using Body = std::vector<const vgpu::CfgBlock*>;

  static bool is_successor(const vgpu::CfgBlock& of, std::size_t block) {
    const auto& all = of.successors;
    return std::find(all.begin(), all.end(), static_cast<int>(block)) != all.end();
  }

  /// The end of the innermost loop that begins at this block; the end of the block if none begins
  /// here.
  static std::size_t end_of_loop(const std::vector<vgpu::CfgBlock>& blocks, std::size_t begin) {
    std::size_t end = begin + 1;
    for (std::size_t at = begin + 1; at < blocks.size(); ++at) {
      if (is_successor(blocks[at], begin)) end = at + 1;
    }
    for (std::size_t inner = begin + 1; inner < end; ++inner) {
      for (std::size_t at = inner; at < end; ++at) {
        if (is_successor(blocks[at], inner)) return begin + 1;
      }
    }
    return end;
  }

  /// True if the block ends with a branch around a short next block.
  static bool skips_a_little(const std::vector<vgpu::CfgBlock>& blocks, std::size_t at) {
    if (at + 2 >= blocks.size()) return false;
    const vgpu::CfgBlock& next = blocks[at + 1];
    return blocks[at].successors.size() == 2 && is_successor(blocks[at], at + 2) &&
           is_successor(blocks[at], at + 1) && next.successors.size() == 1 &&
           is_successor(next, at + 2) && !next.synchronises && next.count <= longest_predicated;
  }

  /// The end of the sequence of blocks from this one on that are merged by predication.
  static std::size_t end_of_predicated(const std::vector<vgpu::CfgBlock>& blocks,
                                       std::size_t begin) {
    std::size_t last = begin;
    while (skips_a_little(blocks, last) && !begins_loop(blocks, last + 2)) last += 2;
    return last + 1;
  }

  static bool begins_loop(const std::vector<vgpu::CfgBlock>& blocks, std::size_t at) {
    const auto& before = blocks[at].predecessors;
    return std::ranges::any_of(before, [&](int from) { return from >= static_cast<int>(at); });
  }

  static bool waits_at_barrier(const vgpu::ptx::Function& function, const Body& body) {
    return std::ranges::any_of(body, [&](const vgpu::CfgBlock* block) {
      const auto first = function.body.begin() + static_cast<std::ptrdiff_t>(block->first);
      return std::any_of(first, first + static_cast<std::ptrdiff_t>(block->count),
                         [](const Instruction& instruction) {
                           return instruction.is(Opcode::bar, Opcode::barrier) &&
                                  !instruction.has("warp");
                         });
    });
  }

  /// The number of executions by warps, without those removed by a cure.
  double executions_of(const vgpu::ptx::Function& function, const vgpu::CfgBlock& block) const {
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      const auto found = sites_.find(function.body[i].line);
      if (found != sites_.end()) return cured_executions(found->second, facts_, cure_);
    }
    return 0;
  }

  /// The mean number of executions per warp, given the total of all warps. A warp with more than
  /// the mean work executes code outside loops once.
  double times_of_warp(double executions, bool loops) const {
    const double mean = executions / facts_.warps();
    if (unevenness_ <= 1) return mean;
    return loops || mean > 1 ? std::max(1.0, mean * unevenness_) : 1;
  }

  /// True if the loop counter's increment is known only at run time, such as blockDim.x. Such a
  /// loop is not unrolled.
  static bool steps_by_register(const vgpu::ptx::Function& function, const Body& body) {
    const auto in_body = [&](const auto& is) -> const Instruction* {
      for (const vgpu::CfgBlock* block : body) {
        for (std::size_t i = block->first; i < block->first + block->count; ++i) {
          if (is(function.body[i])) return &function.body[i];
        }
      }
      return nullptr;
    };
    const vgpu::CfgBlock& last = *body.back();
    const int condition = function.body[last.first + last.count - 1].guard;
    const Instruction* compared = in_body([&](const Instruction& instruction) {
      return instruction.opcode == Opcode::setp && instruction.operands.front().reg == condition;
    });
    if (condition < 0 || compared == nullptr) return false;
    return in_body([&](const Instruction& instruction) {
             if (instruction.opcode != Opcode::add) return false;
             const auto& [to, a, b] = std::tie(instruction.operands[0], instruction.operands[1],
                                               instruction.operands[2]);
             const bool counts = std::ranges::any_of(
                 compared->operands, [&](const Operand& of) { return of.reg == to.reg; });
             return counts && a.kind == Operand::Kind::reg && b.kind == Operand::Kind::reg;
           }) != nullptr;
  }

  Path duration(const vgpu::ptx::Function& function, const Body& body, bool loops) {
    if (!loops) return pass(function, body, 1);
    std::size_t instructions = 0, loads = 0;
    for (const vgpu::CfgBlock* block : body) {
      instructions += block->count;
      for (std::size_t i = block->first; i < block->first + block->count; ++i) {
        const Instruction& instruction = function.body[i];
        loads += instruction.opcode == Opcode::ld && instruction.has("global") ? 1 : 0;
      }
    }
    const bool is_short = instructions <= longest_unrolled && loads <= 2 * max_loads &&
                          !steps_by_register(function, body);
    const bool is_tiny = loads == 1 && instructions <= longest_unrolled_twice && body.size() == 1;
    // nvcc unrolls loops of unknown length four times, and ptxas those that it has left.
    const bool is_unrolled = facts_.unrolled && loads > 0 && loads % unrolled == 0;
    const int times = !is_short || is_unrolled ? 1
                      : is_tiny                ? unrolled * unrolled
                      : loads <= max_loads     ? unrolled
                                               : unrolled / 2;
    pass(function, body, 1);  // as if preceded by an iteration
    Path path;
    path.add(pass(function, body, times), 1.0 / times);
    return path;
  }

  /// The time from the start of the first instruction to the start of the last.
  Path pass(const vgpu::ptx::Function& function, const Body& body, int times) {
    const double begin = now_;
    double slots = 0, last = now_;
    copies_ = times;
    for (copy_ = 0; copy_ < copies_; ++copy_) {
      for (const vgpu::CfgBlock* block : body) {
        constexpr double nearly_always = 0.99;
        always_ = executions_of(function, *block) >=
                  nearly_always * executions_of(function, *body.front());
        for (std::size_t i = block->first; i < block->first + block->count; ++i) {
          const Instruction& instruction = function.body[i];
          if (!sites_.contains(instruction.line)) continue;
          last = std::max(last, begin_of(instruction));
          if (!merged_.contains(instruction.line)) {
            slots += cost_of(instruction, facts_.device).slots;
          }
        }
      }
    }
    now_ = std::max(last, begin + slots);
    return {now_ - begin, slots};
  }

  static bool computes_floats(const Instruction& instruction) {
    if (instruction.is(Opcode::ld, Opcode::st, Opcode::setp, Opcode::atom, Opcode::red))
      return false;
    return instruction.has("f32") || instruction.has("f64") || instruction.has("f16") ||
           instruction.has("f16x2");
  }

  /// The start time of an instruction. Records the times at which its results are available.
  double begin_of(const Instruction& instruction) {
    const bool keeps = instruction.is(Opcode::st, Opcode::red, Opcode::bar, Opcode::barrier,
                                      Opcode::bra, Opcode::ret, Opcode::exit);
    std::vector<int> sources, results;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const bool result = i == 0 && !keeps;
      collect(instruction.operands[i], result ? results : sources);
    }
    if (instruction.guard >= 0) sources.push_back(instruction.guard);
    // A load that each iteration executes moves ahead of the branches before it.
    const bool moves = always_ && instruction.opcode == Opcode::ld && instruction.has("global") &&
                       !instruction.has("volatile");
    double start = std::max(now_, moves ? called_ : decided_);
    for (const int source : sources) {
      const auto found = ready_.find(source);
      if (found != ready_.end()) start = std::max(start, found->second);
    }
    start = memory_order(instruction, start);
    if (computes_floats(instruction)) {
      starts_.push_back(start);
      if (starts_.size() > window) {
        start = std::max(start, starts_.front());
        starts_.pop_front();
      }
    }
    // Instructions after a branch start when its condition is known.
    if (instruction.opcode == Opcode::bra && instruction.guard >= 0 &&
        !predicated_.contains(instruction.line)) {
      decided_ = start + branch_latency;
    }
    const double finish = start + latency_of(instruction);
    if (runs_in_turn(instruction) && !cure_.fast_arithmetic && !cure_.single_precision) {
      decided_ = called_ = finish;
    }
    for (const int result : results) ready_[result] = finish;
    return start;
  }

  /// Delays an access that must not be reordered before an earlier access or barrier.
  double memory_order(const Instruction& instruction, double start) {
    const bool reads_only =
        instruction.has("nc") || instruction.has("param") || instruction.has("const");
    const bool local = instruction.has("local");
    const bool store = instruction.is(Opcode::st, Opcode::atom, Opcode::red);
    if (instruction.opcode == Opcode::cp && instruction.has("async")) {
      return copy_order(instruction, start);
    }
    // ptxas moves no load ahead of a shuffle.
    if (instruction.opcode == Opcode::shfl) {
      for (Order& order : orders_) order.stored = std::max(order.stored, start);
      return start;
    }
    if (instruction.is(Opcode::bar, Opcode::barrier)) {
      if (cure_.no_barriers) return start;
      for (const Order& order : orders_) start = std::max({start, order.accessed, order.stored});
      for (Order& order : orders_) order.accessed = order.stored = start + barrier_latency;
    } else if (local && cure_.no_local) {
      return start;
    } else if (store || loads_matrix(instruction) ||
               (instruction.opcode == Opcode::ld && !reads_only)) {
      const bool shared = instruction.has("shared") || loads_matrix(instruction);
      Order& order = orders_[local ? 2 : shared ? 1 : 0];
      if (!cure_.stored_once) start = std::max(start, order.stored);
      order.accessed = std::max(order.accessed, start);
      if (store) order.stored = start;
    }
    return start;
  }

  /// True if the instruction loads fragments for tensor cores from shared memory.
  static bool loads_matrix(const Instruction& instruction) {
    return instruction.opcode == Opcode::ldmatrix ||
           (instruction.opcode == Opcode::wmma && instruction.has("load"));
  }

  /// Models asynchronous copies: they complete in groups, and wait_group waits for all but the most
  /// recent.
  double copy_order(const Instruction& instruction, double start) {
    if (instruction.has("bulk")) return start;
    if (instruction.has("commit_group")) {
      groups_.push_back(copied_);
    } else if (instruction.has("wait_group") || instruction.has("wait_all")) {
      const bool all = instruction.has("wait_all") || instruction.operands.empty();
      const std::size_t kept = all ? 0 : instruction.operands.front().bits;
      for (; groups_.size() > kept; groups_.pop_front()) start = std::max(start, groups_.front());
      for (Order& order : orders_) order.accessed = std::max(order.accessed, start);
    } else {
      copied_ = std::max(copied_, start + global_latency_);
    }
    return start;
  }

  double latency_of(const Instruction& instruction) const {
    if (merged_.contains(instruction.line)) return 0;
    const bool shared = instruction.has("shared") || instruction.has("shared::cta");
    if (instruction.is(Opcode::atom, Opcode::red)) {
      return shared ? shared_atomic_latency : atomic_latency;
    }
    if (loads_matrix(instruction)) return shared_latency;
    if (instruction.opcode != Opcode::ld) {
      if (cure_.fast_arithmetic && is_slow(instruction)) return 5;
      if (cure_.single_precision && instruction.has("f64")) {
        return instruction.opcode == Opcode::cvt ? 0 : 2.5;  // half the terms of a polynomial
      }
      return cost_of(instruction, facts_.device).latency;
    }
    if (instruction.has("param") || instruction.has("const")) return 5;
    if (instruction.has("local")) return cure_.no_local ? 0 : local_latency_;
    if (bypasses_l1(instruction) && !shared) return std::max(l2_latency, global_latency_);
    const auto found = accesses_.find(instruction.line);
    if (found == accesses_.end()) return shared ? shared_latency : global_latency_;
    const Access& access = *found->second;
    const auto executions = static_cast<double>(access.count.executions);
    if (shared) {
      const double turns = cure_.conflict_free ? 0 : access.conflict_wavefronts() / executions;
      return shared_latency + turns;
    }
    const double latency = latency_of_line(instruction.line);
    return latency + (cure_.coalesced ? 0 : excess_sectors(access) / executions);
  }

  /// The latency of a load from global memory in the current copy of a loop's body. If its copies load
  /// the same sectors, as those of neighbouring words do, the first waits for them all.
  double latency_of_line(int line) const {
    const auto mean = latency_of_line_.find(line);
    if (mean == latency_of_line_.end()) return global_latency_;
    vgpu::SiteLoads loads = loads_of_line_.at(line);
    const auto copies = static_cast<std::uint64_t>(copies_);
    if (copies_ == 1 || loads.by_warp * copies > loads.requested) return mean->second;
    if (copy_ > 0) return l1_latency;
    loads.requested /= copies;
    return global_latency(facts_, cure_, loads);
  }

  const Facts& facts_;
  const Cure& cure_;
  double unevenness_;
  double global_latency_, local_latency_ = l1_latency;
  std::map<int, double> latency_of_line_;  // of loads from global memory
  std::map<int, vgpu::SiteLoads> loads_of_line_;
  int copies_ = 1, copy_ = 0;  // of the body of an unrolled loop
  std::set<int> merged_;       // lines that cost nothing
  std::deque<double> starts_;  // of the last floating-point instructions
  std::map<int, SiteCount> sites_;
  std::map<int, const Access*> accesses_;
  std::map<int, double> ready_;  // by register
  std::set<int> predicated_;     // branches, by line
  double now_ = 0;               // issue time of the instructions so far
  double decided_ = 0;           // time of the last branch
  double called_ = 0;            // end of the last sequence that runs in turn
  bool always_ = true;           // true in blocks that run as often as the body's first
  struct Order {
    double accessed = 0;  // all accesses have started
    double stored = 0;    // loads start no earlier
  };
  std::array<Order, 3> orders_;  // of global, shared and local memory
  double copied_ = 0;            // completion of the last asynchronous copy
  std::deque<double> groups_;    // completion of each pending group of copies
};

}  // namespace

Path path_of(const Facts& facts, const Cure& cure, double unevenness) {
  Walk walk(facts, cure, unevenness);
  // Between two barriers, iterations cannot be overlapped.
  const bool at_once = cure.overlapped && facts.trace.counters.barriers == 0;
  Path path;
  for (const vgpu::ptx::Function& function : facts.text.functions) {
    if (!function.external)
      path.add(walk.function(function), path_kept(facts, cure) / (at_once ? unrolled : 1));
  }
  return path;
}

}  // namespace rung::analysis::diagnosis
