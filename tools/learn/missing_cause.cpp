#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/learn/causes.hpp"
#include "tools/learn/kernel_form.hpp"
#include "tools/learn/solution_work.hpp"

namespace rung::learn {
namespace {

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

}  // namespace

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

}  // namespace rung::learn
