#include "tools/learn/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "emu/compile/link/device_code.hpp"
#include "tools/learn/kernel_form.hpp"
#include "tools/learn/source_edits.hpp"

namespace rung::learn {
namespace {

using vgpu::Hazard;
using vgpu::HazardKind;
using vgpu::Party;

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

}  // namespace

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

Experiments::Experiments(const Failure& failure)
    : failure_(failure), text_(emu::read_file(failure.file)) {}

Experiments::Order Experiments::order_with(const std::vector<int>& lines) const {
  const std::string text = with_statement(text_, lines, barrier_call(failure_.exercise.language));
  const auto code = compile_text(failure_.exercise, failure_.file, text);
  if (!code || !is_ordered(*code, failure_.size)) return Order::none;
  const bool is_everywhere = std::ranges::all_of(
      failure_.exercise.sizes, [&](const Size& size) { return is_ordered(*code, size); });
  return is_everywhere ? Order::everywhere : Order::here;
}

bool Experiments::is_ordered_text(const std::string& text) const {
  if (text == text_) return false;
  const auto code = compile_text(failure_.exercise, failure_.file, text);
  return code && is_ordered(*code, failure_.size);
}

bool Experiments::is_without(HazardKind kind, const std::string& text) const {
  if (text == text_) return false;
  const auto code = compile_text(failure_.exercise, failure_.file, text);
  if (!code) return false;
  const Run run = Trial(*code).run(failure_.size);
  return std::ranges::none_of(run.report.hazards,
                              [&](const Hazard& hazard) { return hazard.kind == kind; });
}

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

}  // namespace rung::learn
