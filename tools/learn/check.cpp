#include "tools/learn/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "emu/compile/link/device_code.hpp"
#include "emu/compile/toolchain.hpp"
#include "emu/reports/launch_json.hpp"
#include "tools/learn/compile.hpp"
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
    case HazardKind::misaligned: return "misaligned";
    case HazardKind::uninitialised_read: return "uninitialised";
    case HazardKind::missing_fence:
    case HazardKind::in_flight: return "in_flight";
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

/// Findings for one size: each kind of hazard once, then wrong results.
std::vector<Finding> findings_of(const Run& run, const std::string& where) {
  std::vector<Finding> found;
  for (const vgpu::Hazard& hazard : run.report.hazards) {
    const char* key = is_of_a_variable(hazard) ? "uninitialised_variable" : key_of(hazard.kind);
    const bool is_known =
        std::any_of(found.begin(), found.end(), [&](const Finding& of) { return of.key == key; });
    if (is_known || hazard.kind == HazardKind::same_value) continue;
    found.push_back({key, fmt::format("{}: {}", where, emu::with_readable_names(hazard.message))});
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

/// The number of barriers whose removal does not change the results for any of the sizes.
int needless_barriers(const Code& code, const std::vector<Size>& sizes) {
  int needless = 0;
  for (const Statement& barrier : barriers(code)) {
    Code mutant = code;
    mutant.ptx.replace(barrier.at, barrier.length, barrier.length, ' ');
    const bool is_right = std::all_of(sizes.begin(), sizes.end(), [&](const Size& size) {
      return findings_of(Trial(mutant).run(size), "").empty();
    });
    if (is_right) ++needless;
  }
  return needless;
}

bool asks_for(const Exercise& exercise, const char* name) {
  return std::any_of(exercise.goals.begin(), exercise.goals.end(),
                     [&](const Goal& goal) { return goal.metric == name; });
}

void count_goals(CheckResult& result, const Exercise& exercise, const Code& code) {
  const Run run = run_of(exercise.counted, code);
  result.findings = findings_of(run, size_text(code.form, exercise.counted));
  if (!result.findings.empty()) return;
  const vgpu::ptx::Module text = vgpu::ptx::parse(code.ptx, "the file");
  Measured measured{analysis::make_trace(run.report, run.sites, text), &text};
  if (asks_for(exercise, "needless_barriers")) {
    measured.needless_barriers = needless_barriers(code, exercise.sizes);
  }
  for (const Goal& goal : exercise.goals) {
    result.goals.push_back({goal, metric(goal.metric).value(measured)});
    const GoalResult& counted = result.goals.back();
    if (counted.is_met()) continue;
    result.findings.push_back(
        {goal.metric,
         fmt::format("{}: {:.4g}; {} {:.4g} is the goal", metric(goal.metric).description,
                     counted.value, goal.at_most ? "at most" : "at least", goal.bound)});
  }
}

void run_sizes(CheckResult& result, const Exercise& exercise, const Code& code) {
  for (const Size& size : exercise.sizes) {
    const Run run = run_of(size, code);
    result.printed += run.report.printed;
    result.findings = findings_of(run, size_text(code.form, size));
    if (!result.findings.empty()) return;
  }
  count_goals(result, exercise, code);
}

/// Rejects an empty file, for which the compiler's message is unclear.
void refuse_empty(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) throw emu::CompileError("the file is empty");
}

}  // namespace

std::string occasion(const std::string& finding) {
  static const std::map<std::string, const char*> known = {
      {"wrong", "If results are wrong"},
      {"not_stored", "If results are missing"},
      {"race", "If there is a race"},
      {"out_of_bounds", "If an access is out of bounds"},
      {"misaligned", "If an access is misaligned"},
      {"uninitialised_variable", "If a variable has no value"},
      {"uninitialised", "If something is read that was not written"},
      {"deadlock", "If threads wait forever"},
      {"in_flight", "If something is read before it has arrived"},
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
    run_sizes(result, exercise, *result.code);
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
