#include <fmt/format.h>

#include <string>

#include "tools/learn/causes.hpp"
#include "tools/learn/experiments.hpp"
#include "tools/learn/solution_work.hpp"

namespace rung::learn {
namespace {

using vgpu::Hazard;
using vgpu::Party;

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

}  // namespace

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

}  // namespace rung::learn
