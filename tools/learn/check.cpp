#include "tools/learn/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

#include "emu/compile/link/device_code.hpp"
#include "emu/compile/toolchain.hpp"
#include "emu/reports/launch_json.hpp"
#include "tools/learn/cause.hpp"
#include "tools/learn/compile.hpp"
#include "tools/learn/metric_lines.hpp"
#include "tools/learn/metrics.hpp"
#include "tools/learn/trial.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::learn {
namespace {

using vgpu::HazardKind;

/// The name of the hazard in hints.
const char* key_of(HazardKind kind) {
  switch (kind) {
    case HazardKind::shared_race:
    case HazardKind::global_race: return "race";
    case HazardKind::same_value: return "same_value";
    case HazardKind::divergent_barrier:
    case HazardKind::deadlock:
    case HazardKind::barrier_misuse: return "deadlock";
    case HazardKind::out_of_bounds: return "out_of_bounds";
    case HazardKind::misaligned:
    case HazardKind::unaligned_vector: return "misaligned";
    case HazardKind::uninitialised_read: return "uninitialised";
    case HazardKind::missing_fence:
    case HazardKind::in_flight: return "in_flight";
    case HazardKind::tensor_memory: return "tensor_memory";
    case HazardKind::instruction_limit: return "endless";
    default: return "fault";
  }
}

std::string size_text(const KernelForm& form, const Size& size) {
  return fmt::format("{} = {}", form.is_vector ? "n" : "m x n x k",
                     to_string(size, form.is_vector));
}

/// Adds the size to the message of an invalid launch.
Run run_of(const Size& size, const Code& code) {
  try {
    return Trial(code).run(size);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", size_text(code.form, size), error.what()));
  }
}

/// An uninitialized register is a variable without a value; all other uninitialized reads are of
/// memory.
bool is_of_a_variable(const vgpu::Hazard& hazard) {
  return hazard.kind == HazardKind::uninitialised_read && hazard.address.empty();
}

/// The run's hazards, those first that explain others: an address that is misaligned may be beyond
/// the end for a later thread.
std::vector<std::size_t> by_cause(const std::vector<vgpu::Hazard>& hazards) {
  std::vector<std::size_t> order(hazards.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order, [&](std::size_t i) {
    return hazards[i].kind == HazardKind::divergent_barrier ||
           hazards[i].kind == HazardKind::misaligned ||
           hazards[i].kind == HazardKind::unaligned_vector;
  });
  return order;
}

/// Findings for one size: each kind of hazard once, then wrong results.
std::vector<Finding> findings_of(const Run& run, const std::string& where) {
  std::vector<Finding> found;
  for (const std::size_t i : by_cause(run.report.hazards)) {
    const vgpu::Hazard& hazard = run.report.hazards[i];
    const char* key = is_of_a_variable(hazard) ? "uninitialised_variable" : key_of(hazard.kind);
    const bool is_known =
        std::any_of(found.begin(), found.end(), [&](const Finding& of) { return of.key == key; });
    if (is_known || hazard.kind == HazardKind::same_value) continue;
    found.push_back(
        {key, fmt::format("{}: {}", where, emu::with_readable_names(hazard.message)), i});
  }
  if (run.error) {
    found.push_back({run.error->is_stored ? "wrong" : "not_stored",
                     fmt::format("{}: {}", where, run.error->text)});
  }
  return found;
}

/// A statement that synchronizes threads or waits: its position and length in the text.
struct Statement {
  std::size_t at, length;
};

std::vector<Statement> barriers(const Code& code) {
  const std::string& ptx = code.ptx;
  std::vector<Statement> found;
  for (const char* word : {"bar.sync", "barrier.sync", "bar.warp.sync", "cp.async.wait_group"}) {
    for (std::size_t at = ptx.find(word); at != ptx.npos; at = ptx.find(word, at + 1)) {
      found.push_back({at, ptx.find(';', at) + 1 - at});
    }
  }
  return found;
}

/// Counts the barriers whose removal does not change the results for any of the sizes.
void count_needless_barriers(Measured& measured, const Code& code, const std::vector<Size>& sizes) {
  const analysis::InstructionsByLine instructions = analysis::by_line(*measured.text);
  for (const Statement& barrier : barriers(code)) {
    Code mutant = code;
    mutant.ptx.replace(barrier.at, barrier.length, barrier.length, ' ');
    const bool is_needed = std::any_of(sizes.begin(), sizes.end(), [&](const Size& size) {
      return !findings_of(Trial(mutant).run(size), "").empty();
    });
    if (is_needed) continue;
    ++measured.needless_barriers;
    const auto lines = std::count(code.ptx.begin(),
                                  code.ptx.begin() + static_cast<std::ptrdiff_t>(barrier.at), '\n');
    const auto found = instructions.find(static_cast<int>(lines) + 1);
    if (measured.needless_line.empty() && found != instructions.end()) {
      measured.needless_line = analysis::source_of(*found->second, *measured.text);
    }
  }
}

bool asks_for(const Exercise& exercise, const char* name) {
  return std::any_of(exercise.goals.begin(), exercise.goals.end(),
                     [&](const Goal& goal) { return goal.metric == name; });
}

/// Adds the cause of the first finding, which hints are about.
void explain(CheckResult& result, const Exercise& exercise, const std::filesystem::path& file,
             const Code& code, const Size& size, const Run& run) {
  if (result.findings.empty()) return;
  Finding& first = result.findings.front();
  Failure failure = {exercise, code, file, size, run};
  if (first.hazard) {
    failure.hazard = &run.report.hazards[*first.hazard];
    const auto& element = run.elements[*first.hazard];
    if (element) failure.element = &*element;
  }
  const std::optional<Cause> cause = cause_of(failure);
  if (!cause) return;
  first.key = cause->key;
  first.text += "; " + emu::with_readable_names(cause->text);
}

void count_goals(CheckResult& result, const Exercise& exercise, const std::filesystem::path& file,
                 const Code& code) {
  const Run run = run_of(exercise.counted, code);
  result.findings = findings_of(run, size_text(code.form, exercise.counted));
  explain(result, exercise, file, code, exercise.counted, run);
  if (!result.findings.empty()) return;
  const vgpu::ptx::Module text = vgpu::ptx::parse(code.ptx, "the file");
  Measured measured{analysis::make_trace(run.report, run.sites, text), &text, 0, ""};
  if (asks_for(exercise, "needless_barriers")) {
    count_needless_barriers(measured, code, exercise.sizes);
  }
  for (const Goal& goal : exercise.goals) {
    result.goals.push_back({goal, metric(goal.metric).value(measured)});
    const GoalResult& counted = result.goals.back();
    if (counted.is_met()) continue;
    const std::string line = worst_line(measured, goal);
    result.findings.push_back(
        {goal.metric,
         fmt::format("{}: {:.4g}; {} {:.4g} is the goal{}", metric(goal.metric).description,
                     counted.value, goal.at_most ? "at most" : "at least", goal.bound,
                     line.empty() ? "" : ". Most at " + line)});
  }
}

void run_sizes(CheckResult& result, const Exercise& exercise, const std::filesystem::path& file,
               const Code& code) {
  for (const Size& size : exercise.sizes) {
    const Run run = run_of(size, code);
    result.printed += run.report.printed;
    result.findings = findings_of(run, size_text(code.form, size));
    explain(result, exercise, file, code, size, run);
    if (!result.findings.empty()) return;
  }
  count_goals(result, exercise, file, code);
}

/// Rejects an empty file, for which the compiler's message is unclear.
void refuse_empty(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) throw emu::CompileError("the file is empty");
}

}  // namespace

std::string occasion(const std::string& finding) {
  static const std::map<std::string, const char*> known = {
      {"wrong", "If results are wrong"},
      {"wrong/a_stays", "If A is always read from its first tile"},
      {"wrong/b_stays", "If B is always read from its first tile"},
      {"wrong/both_stay", "If the first tile is added several times"},
      {"wrong/beyond_edge", "If a sum has products from beyond the edge"},
      {"wrong/conversion", "If a conversion drops fractions"},
      {"wrong/descriptor", "If a descriptor leads to other elements"},
      {"wrong/descriptor_stride", "If a descriptor has another stride"},
      {"wrong/descriptor_swizzle", "If a descriptor names another swizzle"},
      {"wrong/edge", "If only tiles at an edge are wrong"},
      {"wrong/ends_early", "If a sum lacks its last products"},
      {"wrong/index_a", "If a sum has other elements of A"},
      {"wrong/index_b", "If a sum has other elements of B"},
      {"wrong/length_a", "If rows of A have the wrong length"},
      {"wrong/length_b", "If rows of B have the wrong length"},
      {"wrong/length_c", "If rows of C have the wrong length"},
      {"wrong/nothing", "If a sum has no products"},
      {"wrong/only_last", "If a sum has only its last products"},
      {"wrong/other_column", "If a result belongs to another column"},
      {"wrong/other_element", "If a result belongs to another element"},
      {"wrong/other_row", "If a result belongs to another row"},
      {"wrong/repeated", "If products are added several times"},
      {"wrong/some_missing", "If a sum lacks some of its products"},
      {"wrong/steps", "If elements of different steps are multiplied"},
      {"wrong/terms", "If a sum has other products"},
      {"wrong/tile_again", "If a tile is added again in place of a later one"},
      {"wrong/transposed_a", "If A is read as if transposed"},
      {"wrong/transposed_b", "If B is read as if transposed"},
      {"wrong/transposed_c", "If C is stored transposed"},
      {"not_stored", "If results are missing"},
      {"not_stored/accumulates", "If a result depends on what it held before"},
      {"not_stored/condition", "If a thread that has a result stores nothing"},
      {"not_stored/grid", "If there are too few threads"},
      {"not_stored/nothing", "If nothing is stored"},
      {"not_stored/overlap", "If some results have no thread"},
      {"race", "If there is a race"},
      {"race/barrier_flags", "If a barrier orders other memory"},
      {"race/between_blocks", "If one block reads what another writes"},
      {"race/blocks", "If two blocks store one element"},
      {"race/both_barriers", "If two barriers are missing"},
      {"race/no_group", "If copies belong to no group"},
      {"race/one_too_many", "If a thread too many takes part"},
      {"race/outside", "If a thread beyond the edge stores"},
      {"race/read_after_write", "If a thread reads what is not yet written"},
      {"race/read_modify_write", "If two threads add to one element"},
      {"race/same_stage", "If two copies write one stage"},
      {"race/shared_writers", "If two threads store one word of shared memory"},
      {"race/two_writers", "If two threads store one element"},
      {"race/warp_barrier", "If a barrier waits for too few threads"},
      {"race/write_after_read", "If a thread overwrites what others still read"},
      {"out_of_bounds", "If an access is out of bounds"},
      {"out_of_bounds/edge", "If a tile reaches beyond an edge"},
      {"out_of_bounds/element", "If the index of an element is wrong"},
      {"out_of_bounds/extents", "If one extent is taken for another"},
      {"out_of_bounds/index", "If an index is wrong"},
      {"out_of_bounds/one_too_many", "If a loop runs once too often"},
      {"out_of_bounds/outside", "If a thread beyond the edge accesses memory"},
      {"out_of_bounds/store", "If a store is beyond an edge"},
      {"out_of_bounds/shared", "If an index is beyond a tile"},
      {"misaligned", "If an access is misaligned"},
      {"uninitialised_variable", "If a variable has no value"},
      {"uninitialised", "If something is read that was not written"},
      {"uninitialised/gap", "If a part of a tile is not stored"},
      {"uninitialised/edge", "If a tile has no values beyond an edge"},
      {"deadlock", "If threads wait forever"},
      {"deadlock/condition", "If only some threads come to a barrier"},
      {"deadlock/early_return", "If threads return ahead of a barrier"},
      {"deadlock/loop", "If a barrier is in a loop of different lengths"},
      {"in_flight", "If something is read before it has arrived"},
      {"tensor_memory", "If tensor memory is used wrongly"},
      {"endless", "If the kernel does not end"},
      {"fault", "If the kernel ends with an error"},
      {"launch", "If no GPU takes the launch"},
      {"compile", "If the file does not compile"}};
  const auto found = known.find(finding);
  if (found != known.end()) return found->second;
  return fmt::format("If this misses its goal: {}", metric(finding).description);
}

CheckResult check(const Exercise& exercise, const std::filesystem::path& file) {
  CheckResult result;
  try {
    refuse_empty(emu::read_file(file));
    result.code.emplace(compile(exercise, file));
    run_sizes(result, exercise, file, *result.code);
  } catch (const emu::CompileError& error) {
    const std::string said = error.what();
    result.findings = {{"compile", said.empty() ? "the file does not compile" : said}};
  } catch (const std::invalid_argument& error) {
    result.findings = {{"launch", emu::with_readable_names(error.what())}};
  }
  if (!result.is_solved() && emu::read_file(file) == start_text(exercise)) {
    result.findings.insert(result.findings.begin(),
                           {"unfinished", "the file is as 'rung learn' wrote it"});
  }
  return result;
}

}  // namespace rung::learn
