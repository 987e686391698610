#include "tools/learn/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "emu/compile/link/device_code.hpp"
#include "tools/learn/kernel_form.hpp"
#include "tools/learn/source_edits.hpp"

namespace rung::learn {
namespace {

using vgpu::Hazard;
using vgpu::HazardKind;
using vgpu::Party;

bool is_in_shared(const Hazard& hazard) {
  return hazard.kind == HazardKind::shared_race ||
         (!hazard.address.empty() && !hazard.address.starts_with("allocation"));
}

bool is_same_block(const Hazard& hazard) {
  return std::ranges::equal(hazard.first.block, hazard.other.block);
}

std::string name_of(const Party& party) {
  return fmt::format("thread ({},{},{}) of block ({},{},{})", party.thread[0], party.thread[1],
                     party.thread[2], party.block[0], party.block[1], party.block[2]);
}

// --- What the solution's threads do.

struct ThreadIndex {
  std::uint64_t block, thread;
  auto operator<=>(const ThreadIndex&) const = default;
};

std::uint64_t linear(const std::uint32_t (&at)[3], const vgpu::Dim3& extents) {
  return at[0] + std::uint64_t{extents.x} * (at[1] + std::uint64_t{extents.y} * at[2]);
}

/// The elements of the results that each of the solution's threads stores or, for vectors, whether
/// it accesses global memory at all.
using Work = std::map<ThreadIndex, std::set<std::uint64_t>>;

Work work_of_threads(const Failure& failure, const Code& solution) {
  const bool is_vector = failure.code.form.is_vector;
  std::vector<vgpu::WarpAccess> accesses;
  const Run run = Trial(solution).run(failure.size, [&](const vgpu::WarpAccess& access) {
    if (!access.shared && (is_vector || !access.load)) accesses.push_back(access);
  });
  const std::uint64_t bytes = std::uint64_t{4} * static_cast<std::uint64_t>(failure.size.m) *
                              static_cast<std::uint64_t>(failure.size.n);
  Work found;
  for (const vgpu::WarpAccess& access : accesses) {
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t offset = access.address[lane] - run.result;
      if ((access.lanes >> lane & 1) == 0 || (!is_vector && offset >= bytes)) continue;
      found[{access.block, static_cast<std::uint64_t>(access.warp) * 32 + lane}].insert(offset / 4);
    }
  }
  return found;
}

/// The solution's threads, if the failing launch has the same grid and block.
struct Comparison {
  LaunchShape shape;
  Work work;

  const std::set<std::uint64_t>* of(const Party& party) const {
    const auto found =
        work.find({linear(party.block, shape.grid), linear(party.thread, shape.block)});
    return found == work.end() ? nullptr : &found->second;
  }
};

std::optional<Comparison> compared(const Failure& failure) {
  const Code solution = compile_solution(failure.exercise);
  const LaunchShape own = Trial(failure.code).launch_shape(failure.size);
  const LaunchShape shape = Trial(solution).launch_shape(failure.size);
  if (!(own.grid == shape.grid && own.block == shape.block)) return std::nullopt;
  return Comparison{shape, work_of_threads(failure, solution)};
}

/// True if the solution has a thread of this index without work: one beyond the edge.
bool is_outside(const Failure& failure, std::initializer_list<const Party*> parties) {
  const auto comparison = compared(failure);
  return comparison && std::ranges::any_of(parties, [&](const Party* party) {
           return comparison->of(*party) == nullptr;
         });
}

/// The cause of a store to a wrong element of C, by a thread that has one element.
std::optional<Cause> wrong_store(const Failure& failure, const Party& party) {
  if (failure.element == nullptr || failure.element->array != "c") return std::nullopt;
  const auto comparison = compared(failure);
  const auto* const own = comparison ? comparison->of(party) : nullptr;
  if (own == nullptr || own->size() != 1) return std::nullopt;
  const auto [m, n, k] = failure.size;
  const auto should = static_cast<std::int64_t>(*own->begin());
  const std::int64_t row = should / n, column = should % n, is = failure.element->element;
  if (is == should) return std::nullopt;
  const std::string text = fmt::format("{} has C[{}][{}], which is c[{}], and not c[{}]",
                                       name_of(party), row, column, should, is);
  if (is == column * n + row || is == column * m + row) return Cause{"wrong/transposed_c", text};
  if (is == row * m + column || is == row * k + column) return Cause{"wrong/length_c", text};
  return std::nullopt;
}

/// The first thread of the solution that stores and stores nothing here, though others of its block do. If other threads
/// than the solution's store, or a whole block stores nothing, the indices differ, and not a condition.
std::optional<ThreadIndex> idle_thread(const Failure& failure) {
  const auto storing = [&](const Code& code) {
    std::set<ThreadIndex> threads;
    (void)Trial(code).run(failure.size, [&](const vgpu::WarpAccess& access) {
      if (access.shared || access.load) return;
      for (std::uint64_t lane = 0; lane < 32; ++lane) {
        if ((access.lanes >> lane & 1) == 0) continue;
        threads.insert({access.block, static_cast<std::uint64_t>(access.warp) * 32 + lane});
      }
    });
    return threads;
  };
  const Code solution = compile_solution(failure.exercise);
  const LaunchShape own = Trial(failure.code).launch_shape(failure.size);
  const LaunchShape of = Trial(solution).launch_shape(failure.size);
  if (!(own.grid == of.grid && own.block == of.block)) return std::nullopt;
  const std::set<ThreadIndex> stores = storing(failure.code), of_solution = storing(solution);
  if (!std::ranges::includes(of_solution, stores)) return std::nullopt;
  std::set<std::uint64_t> blocks;
  for (const ThreadIndex& thread : stores) blocks.insert(thread.block);
  for (const ThreadIndex& thread : of_solution) {
    if (blocks.contains(thread.block) && !stores.contains(thread)) return thread;
  }
  return std::nullopt;
}

bool has_barriers(const Exercise& exercise) {
  const std::string text = solution_text(exercise);
  return text.find("__syncthreads") != text.npos || text.find("threadgroup_barrier") != text.npos;
}

// --- Experiments.

bool is_ordered(const Code& code, const Size& size) {
  try {
    const Run run = Trial(code).run(size);
    return std::ranges::none_of(run.report.hazards, [](const Hazard& hazard) {
      return hazard.kind != HazardKind::same_value && hazard.kind != HazardKind::out_of_bounds;
    });
  } catch (const std::invalid_argument&) {
    return false;
  }
}

class Experiments {
 public:
  explicit Experiments(const Failure& failure)
      : failure_(failure), text_(emu::read_file(failure.file)) {}

  const std::string& text() const { return text_; }

  /// How far a barrier before each of the lines orders the accesses: for no size, for the one that
  /// failed, or for all.
  enum class Order { none, here, everywhere };
  Order order_with(const std::vector<int>& lines) const {
    const std::string text = with_statement(text_, lines, barrier_call(failure_.exercise.language));
    const auto code = compile_text(failure_.exercise, failure_.file, text);
    if (!code || !is_ordered(*code, failure_.size)) return Order::none;
    const bool is_everywhere = std::ranges::all_of(
        failure_.exercise.sizes, [&](const Size& size) { return is_ordered(*code, size); });
    return is_everywhere ? Order::everywhere : Order::here;
  }

  /// True if the text, which has one thing changed, has none of these hazards.
  bool is_ordered_text(const std::string& text) const {
    if (text == text_) return false;
    const auto code = compile_text(failure_.exercise, failure_.file, text);
    return code && is_ordered(*code, failure_.size);
  }

  /// True if the text, which has one thing changed, has no hazard of this kind.
  bool is_without(HazardKind kind, const std::string& text) const {
    if (text == text_) return false;
    const auto code = compile_text(failure_.exercise, failure_.file, text);
    if (!code) return false;
    const Run run = Trial(*code).run(failure_.size);
    return std::ranges::none_of(run.report.hazards,
                                [&](const Hazard& hazard) { return hazard.kind == kind; });
  }

 private:
  const Failure& failure_;
  std::string text_;
};

// --- Races.

/// Tries `<` instead of `<=` on the hazard's line, or on one of the conditions around it.
std::optional<Cause> one_too_many(const Failure& failure, const char* key) {
  const Experiments experiment(failure);
  const vgpu::Hazard& hazard = *failure.hazard;
  std::vector<int> around = statements_around(experiment.text(), hazard.first.line);
  around.push_back(hazard.first.line);
  for (const int line : around) {
    if (!experiment.is_without(hazard.kind, with_replaced(experiment.text(), line, "<=", "<"))) {
      continue;
    }
    return Cause{key, fmt::format("'{}' lets the index reach its end, which is one too many",
                                  line_of(experiment.text(), line))};
  }
  return std::nullopt;
}

Cause missing_before_read(const Party& reader) {
  return {"race/read_after_write",
          fmt::format("{} reads what other threads write, and no barrier makes it wait until they "
                      "have: with one ahead of this statement the order is right",
                      reader.source)};
}

Cause missing_after_read(const Party& reader, const Party& writer) {
  return {"race/write_after_read",
          fmt::format("{} writes, for the next round, what other threads still read at {}: nothing "
                      "makes it wait until all of them have read",
                      writer.source, reader.source)};
}

Cause missing_both(const Party& reader) {
  return {
      "race/both_barriers",
      fmt::format("two barriers are missing: one ahead of the reads at {}, and one between them "
                  "and the next round's writes",
                  reader.source)};
}

/// Finds the barrier that is missing between the line that reads and the one that writes: tries one
/// ahead of the reads, one after them, and both. One that helps for all sizes is preferred to one that helps for
/// the failing size alone, where there may be a single round.
std::optional<Cause> missing_barrier(const Failure& failure, const Party& reader,
                                     const Party* writer) {
  using Order = Experiments::Order;
  const Experiments experiment(failure);
  const std::vector<int> reads = statements_around(experiment.text(), reader.line);
  std::vector<int> writes = ends_of_blocks(experiment.text(), reader.line);
  if (writer != nullptr) {
    for (const int at : statements_around(experiment.text(), writer->line)) writes.push_back(at);
  }
  std::optional<Cause> found;
  const auto is_best = [&](const std::vector<int>& lines, const Cause& cause) {
    const Order order = experiment.order_with(lines);
    if (order == Order::everywhere || (order == Order::here && !found)) found = cause;
    return order == Order::everywhere;
  };
  for (const int at : reads) {
    if (is_best({at}, missing_before_read(reader))) return found;
  }
  for (const int at : writes) {
    if (writer != nullptr && is_best({at}, missing_after_read(reader, *writer))) return found;
  }
  constexpr std::size_t most = 2;  // of each: the nearest ones
  for (std::size_t i = 0; i < std::min(most, reads.size()); ++i) {
    for (std::size_t j = 0; j < std::min(most, writes.size()); ++j) {
      if (is_best({reads[i], writes[j]}, missing_both(reader))) return found;
    }
  }
  return found;
}

/// A wait that is there, but orders less than it would have to.
std::optional<Cause> weak_barrier(const Failure& failure) {
  const Experiments experiment(failure);
  const std::string& text = experiment.text();
  const std::string barrier(barrier_call(failure.exercise.language));
  for (const char* weak :
       {"__syncwarp();", "simdgroup_barrier(mem_flags::mem_threadgroup);",
        "simdgroup_barrier(mem_flags::mem_none);", "__threadfence();", "__threadfence_block();"}) {
    if (!experiment.is_ordered_text(with_replaced(text, 0, weak, barrier))) continue;
    return Cause{"race/warp_barrier",
                 fmt::format("{} does not wait for the other warps of the block", weak)};
  }
  for (const char* flags : {"mem_flags::mem_none", "mem_flags::mem_device"}) {
    if (!experiment.is_ordered_text(with_replaced(text, 0, flags, "mem_flags::mem_threadgroup"))) {
      continue;
    }
    return Cause{"race/barrier_flags",
                 fmt::format("a barrier with {} does not order threadgroup memory", flags)};
  }
  return std::nullopt;
}

/// A return ahead of a barrier, without which the accesses are ordered.
std::optional<Cause> early_return(const Failure& failure) {
  const Experiments experiment(failure);
  const std::string& text = experiment.text();
  const std::string_view barrier = barrier_call(failure.exercise.language);
  const std::size_t last = text.rfind(barrier.substr(0, barrier.find('(')));
  if (last == text.npos) return std::nullopt;
  const auto lines = static_cast<int>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(last), '\n'));
  for (int line = 1; line <= lines; ++line) {
    if (line_of(text, line).find("return;") == std::string::npos) continue;
    if (!experiment.is_ordered_text(with_replaced(text, line, "return;", ";"))) continue;
    const std::string own = line_of(text, line);
    return Cause{
        "deadlock/early_return",
        fmt::format("{}:{}, '{}', lets some threads return ahead of a barrier: they load "
                    "nothing, and the others do not wait for them",
                    failure.file.filename().string(), line,
                    own.starts_with("return") ? line_of(text, line - 1) + " " + own : own)};
  }
  return std::nullopt;
}

std::string element_text(const Failure& failure) {
  if (failure.element == nullptr) return failure.hazard->address;
  return fmt::format("{}[{}]", failure.element->array, failure.element->element);
}

Cause two_writers(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  // Where whole tiles race, too, the index is wrong and not the check of the edge.
  const bool depends_on_edge = is_ordered(failure.code, failure.exercise.counted);
  if (depends_on_edge && is_outside(failure, {&hazard.first, &hazard.other})) {
    const bool is_first = is_outside(failure, {&hazard.first});
    return {"race/outside",
            fmt::format("{} has no element of its own: it lies beyond the edge, and what it stores "
                        "goes to an element of another thread",
                        name_of(is_first ? hazard.first : hazard.other))};
  }
  for (const Party* party : {&hazard.first, &hazard.other}) {
    if (auto cause = wrong_store(failure, *party)) return *cause;
  }
  const bool is_across_blocks = !is_same_block(hazard);
  return {is_across_blocks ? "race/blocks" : "race/two_writers",
          fmt::format("two threads, of {}, store {}", is_across_blocks ? "two blocks" : "one block",
                      element_text(failure))};
}

std::optional<Cause> cause_of_global_race(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  const bool both_write = hazard.first.access == "write" && hazard.other.access == "write";
  if (both_write) return two_writers(failure);
  if (hazard.first.line == hazard.other.line) {
    if (is_outside(failure, {&hazard.first, &hazard.other})) return two_writers(failure);
    return Cause{"race/read_modify_write",
                 fmt::format("{} adds to {}, and so does {}: one of the sums is lost if both have "
                             "read before either stores",
                             name_of(hazard.first), element_text(failure), name_of(hazard.other))};
  }
  if (!is_same_block(hazard)) {
    return Cause{"race/between_blocks",
                 fmt::format("{} and {} are of two blocks, which no barrier orders",
                             name_of(hazard.first), name_of(hazard.other))};
  }
  return std::nullopt;
}

/// A race of copies by cp.async.
std::optional<Cause> cause_of_race_of_copies(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  const std::string& ptx = failure.code.ptx;
  if (ptx.find("cp.async.c") == ptx.npos) return std::nullopt;  // .ca or .cg
  if (ptx.find("cp.async.commit_group") == ptx.npos) {
    return Cause{"race/no_group", "no copy belongs to a group that the thread could wait for"};
  }
  const bool is_write = hazard.first.access.find("write") != std::string::npos;
  if (is_write && hazard.message.find("with the asynchronous write by") != std::string::npos) {
    return Cause{"race/same_stage",
                 fmt::format("two copies that are in flight at once write {}: they have the same "
                             "stage",
                             hazard.address)};
  }
  return std::nullopt;
}

std::optional<Cause> cause_of_race(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  if (hazard.message.find("asynchronous") != std::string::npos) {
    return cause_of_race_of_copies(failure);
  }
  if (auto too_many = one_too_many(failure, "race/one_too_many")) return too_many;
  if (auto weak = weak_barrier(failure)) return weak;
  if (auto early = early_return(failure)) return early;
  const bool first_reads = hazard.first.access == "read";
  const Party& reader = first_reads ? hazard.first : hazard.other;
  const Party& writer = first_reads ? hazard.other : hazard.first;
  const bool both_write = hazard.first.access == "write" && hazard.other.access == "write";
  if (is_same_block(hazard) && !(both_write && !is_in_shared(hazard))) {
    if (auto missing = missing_barrier(failure, reader, &writer)) return missing;
  }
  if (!is_in_shared(hazard)) return cause_of_global_race(failure);
  if (both_write) {
    return Cause{
        "race/shared_writers",
        fmt::format("two threads store the same word of shared memory, {}", hazard.address)};
  }
  return std::nullopt;
}

// --- Barriers that some threads do not reach.

/// The line that a message names after these words; 0 if it names none.
int line_after(const std::string& message, std::string_view words) {
  const std::size_t at = message.find(words);
  if (at == message.npos) return 0;
  const std::size_t end = message.find_first_of(" ;,", at + words.size());
  const std::string place = message.substr(at + words.size(), end - at - words.size());
  const std::size_t colon = place.rfind(':');
  if (colon == place.npos) return 0;
  return std::atoi(place.c_str() + colon + 1);
}

/// The line of the statement whose condition is true for some threads only.
int line_of_condition(const Failure& failure, const std::string& text) {
  const Hazard& hazard = *failure.hazard;
  if (const int skipped = line_after(hazard.message, "skipped it at ")) return skipped;
  const std::vector<int> around = statements_around(text, hazard.first.line);
  for (const int line : around) {
    const std::string own = line_of(text, line);
    if (own.starts_with("if") || own.starts_with("for") || own.starts_with("while") ||
        own.starts_with("}")) {
      return line;
    }
  }
  return 0;
}

std::optional<Cause> cause_of_deadlock(const Failure& failure) {
  if (auto early = early_return(failure)) return early;
  const std::string text = emu::read_file(failure.file);
  const int line = line_of_condition(failure, text);
  if (line == 0) return std::nullopt;
  const std::string statement = line_of(text, line) + " " + line_of(text, line + 1);
  const std::string place = fmt::format("{}:{}", failure.file.filename().string(), line);
  const auto is_word = [&](const char* word) { return statement.find(word) != statement.npos; };
  const std::string own = line_of(text, line);
  const bool is_loop = own.starts_with("for") || own.starts_with("while");
  if (is_word("return") && !is_loop) {
    return Cause{
        "deadlock/early_return",
        fmt::format("{}, '{}', lets some threads return ahead of a barrier that the others "
                    "wait at",
                    place, own)};
  }
  return Cause{is_loop ? "deadlock/loop" : "deadlock/condition",
               fmt::format("{}, '{}', decides which threads come to the barrier at {}", place, own,
                           failure.hazard->first.source)};
}

// --- Accesses out of bounds, and reads of what was never written.

/// True if the kernel is right only where some extents are equal: it takes one for another.
bool confuses_extents(const Failure& failure) {
  if (failure.code.form.is_vector) return false;
  const auto [m, n, k] = failure.exercise.counted;
  return is_right(failure.code, {m, n, k}) && !is_right(failure.code, {m, 2 * n, 3 * k});
}

std::string edge_text(const Failure& failure, const std::string& extents) {
  const bool is_vector = failure.code.form.is_vector;
  return fmt::format(
      "for {} = {} this does not happen; it depends on {}, which is no multiple of "
      "the tile here",
      is_vector ? "n" : "m x n x k", to_string(failure.exercise.counted, is_vector), extents);
}

std::optional<Cause> cause_of_bounds(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  if (auto too_many = one_too_many(failure, "out_of_bounds/one_too_many")) return too_many;
  if (is_in_shared(hazard)) {
    return Cause{"out_of_bounds/shared", "the index is beyond an array in shared memory"};
  }
  const std::string extents = ragged_extents(failure);
  if (!has_barriers(failure.exercise) && is_outside(failure, {&hazard.first})) {
    return Cause{"out_of_bounds/outside",
                 fmt::format("{} lies beyond the edge: it has no element, and must not access any",
                             name_of(hazard.first))};
  }
  if (auto cause = wrong_store(failure, hazard.first)) return cause;
  if (confuses_extents(failure)) {
    return Cause{"out_of_bounds/extents",
                 fmt::format("for m x n x k = {} it is right, where extents are equal",
                             to_string(failure.exercise.counted, false))};
  }
  if (!extents.empty()) {
    const bool is_store = hazard.first.access == "write";
    return Cause{is_store ? "out_of_bounds/store" : "out_of_bounds/edge",
                 edge_text(failure, extents)};
  }
  if (is_outside(failure, {&hazard.first})) return std::nullopt;
  return Cause{failure.code.form.is_vector ? "out_of_bounds/element" : "out_of_bounds/index",
               fmt::format("{} has an element, so that its index is wrong, not its condition",
                           name_of(hazard.first))};
}

std::optional<Cause> cause_of_unwritten(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  if (hazard.address.empty()) return std::nullopt;
  if (auto early = early_return(failure)) return early;
  if (auto weak = weak_barrier(failure)) return weak;
  if (auto missing = missing_barrier(failure, hazard.first, nullptr)) return missing;
  const std::string extents = ragged_extents(failure);
  if (!extents.empty()) return Cause{"uninitialised/edge", edge_text(failure, extents)};
  if (!is_in_shared(hazard)) return std::nullopt;
  return Cause{"uninitialised/gap", "no barrier more would mend it: no thread stores there"};
}

// --- Results that were never stored.

/// True for each result that keeps what it held.
std::vector<bool> kept_elements(Trial& trial, const Size& size) {
  // No sums of integers.
  const std::vector<float> first = trial.probe(size, {{}, {}, 1.5f});
  const std::vector<float> second = trial.probe(size, {{}, {}, 2.5f});
  std::vector<bool> kept;
  for (std::size_t i = 0; i < first.size(); ++i)
    kept.push_back(first[i] == 1.5f && second[i] == 2.5f);
  return kept;
}

std::string kept_rows_and_columns(const std::vector<bool>& kept, const Size& size) {
  const auto rows = static_cast<std::size_t>(size.m), columns = static_cast<std::size_t>(size.n);
  std::size_t kept_rows = 0, kept_columns = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t count = 0;
    for (std::size_t column = 0; column < columns; ++column) count += kept[row * columns + column];
    if (count == columns) ++kept_rows;
  }
  for (std::size_t column = 0; column < columns; ++column) {
    std::size_t count = 0;
    for (std::size_t row = 0; row < rows; ++row) count += kept[row * columns + column];
    if (count == rows) ++kept_columns;
  }
  return fmt::format("{} of {} rows and {} of {} columns of C were not stored at all", kept_rows,
                     rows, kept_columns, columns);
}

std::optional<Cause> cause_of_missing(const Failure& failure) {
  Trial trial(failure.code), solved(compile_solution(failure.exercise));
  const Probe zeros = {{}, {}, 0};
  if (trial.probe(failure.size, zeros) == solved.probe(failure.size, zeros)) {
    return Cause{
        "not_stored/accumulates",
        "if the results are zeros before the kernel runs, it is right: it adds to what they "
        "held"};
  }
  const std::vector<bool> kept = kept_elements(trial, failure.size);
  const auto count = static_cast<std::size_t>(std::ranges::count(kept, true));
  if (count == 0) {
    return Cause{"not_stored/accumulates",
                 "every result is stored, but computed from what it held before"};
  }
  if (count == kept.size()) return Cause{"not_stored/nothing", "no result was stored"};
  const LaunchShape own = trial.launch_shape(failure.size), of = solved.launch_shape(failure.size);
  if (own.grid.count() * own.block.count() < of.grid.count() * of.block.count()) {
    return Cause{
        "not_stored/grid",
        fmt::format("{} blocks of {} threads are fewer than the {} blocks of {} that the "
                    "solution takes",
                    own.grid.count(), own.block.count(), of.grid.count(), of.block.count())};
  }
  if (const auto idle = idle_thread(failure)) {
    return Cause{"not_stored/condition",
                 fmt::format("thread {} of block {} has a result to store, and stores none",
                             idle->thread, idle->block)};
  }
  if (failure.code.form.is_vector) {
    return Cause{"not_stored/overlap",
                 fmt::format("{} of {} results were stored by no thread", count, kept.size())};
  }
  return Cause{"not_stored/overlap", kept_rows_and_columns(kept, failure.size)};
}

/// True if a larger problem may tell more: one element, or one tile, says little about indices.
bool says_little(const std::optional<Cause>& cause) {
  return !cause || cause->key == "wrong/nothing" || cause->key == "wrong/terms" ||
         cause->key == "not_stored/nothing";
}

/// The cause of wrong or missing results, for the first size that tells it.
std::optional<Cause> cause_without_hazard(const Failure& failure) {
  const auto cause_at = [](const Failure& at) {
    return at.run.error->is_stored ? cause_of_wrong_sum(at) : cause_of_missing(at);
  };
  const bool is_vector = failure.code.form.is_vector;
  const bool is_smallest = failure.size.m == 1 && failure.size.n == 1;
  std::optional<Cause> found;
  if (!is_smallest) found = cause_at(failure);
  for (const Size& size : failure.exercise.sizes) {
    if (!says_little(found)) break;
    const Run run = Trial(failure.code).run(size);
    if (!run.error || run.report.fault || size == failure.size) continue;
    auto cause = cause_at({failure.exercise, failure.code, failure.file, size, run});
    if (says_little(cause)) continue;
    cause->text = fmt::format("for {}, {}", to_string(size, is_vector), cause->text);
    found = cause;
  }
  return found ? found : cause_at(failure);
}

}  // namespace

bool is_right(const Code& code, const Size& size) {
  try {
    const Run run = Trial(code).run(size);
    return !run.error && std::ranges::all_of(run.report.hazards, [](const Hazard& hazard) {
      return hazard.kind == HazardKind::same_value;
    });
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::string ragged_extents(const Failure& failure) {
  const Size whole = failure.exercise.counted, size = failure.size;
  if (!is_right(failure.code, whole)) return "";
  if (failure.code.form.is_vector) return "n";
  std::string found;
  const auto add = [&](const char* extent, const Size& of) {
    if (is_right(failure.code, of)) return;
    found += (found.empty() ? "" : " and ") + std::string(extent);
  };
  add("m", {size.m, whole.n, whole.k});
  add("n", {whole.m, size.n, whole.k});
  add("k", {whole.m, whole.n, size.k});
  return found.empty() ? "all extents" : found;
}

std::optional<Cause> cause_of(const Failure& failure) {
  if (failure.hazard == nullptr) return cause_without_hazard(failure);
  switch (failure.hazard->kind) {
    case HazardKind::shared_race:
    case HazardKind::global_race: return cause_of_race(failure);
    case HazardKind::divergent_barrier:
    case HazardKind::deadlock: return cause_of_deadlock(failure);
    case HazardKind::out_of_bounds: return cause_of_bounds(failure);
    case HazardKind::uninitialised_read: return cause_of_unwritten(failure);
    default: return std::nullopt;
  }
}

}  // namespace rung::learn
