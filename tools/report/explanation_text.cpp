#include "tools/report/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/table.hpp"

namespace rung {
namespace {

using analysis::Explanation;

/// "K/128 + K/64 + 0.5": the counted traffic, as the sum of its two parts.
std::string linear(double per_k, double constant) {
  std::string text;
  if (per_k > 0) text = fmt::format("{:.4g} K", per_k);
  if (std::abs(constant) > 1e-9 || text.empty()) {
    text += fmt::format("{}{:.3g}",
                        text.empty()   ? ""
                        : constant < 0 ? " - "
                                       : " + ",
                        text.empty() ? constant : std::abs(constant));
  }
  return text;
}

std::string traffic_text(const Explanation& e) {
  if (e.traffic.empty()) return "";
  Table table({fmt::format("elements per element of {}", e.result), "expected", "", "counted"});
  for (const analysis::TrafficRow& row : e.traffic) {
    const bool expected = !row.expected.text.empty();
    table.add_row({row.name, row.expected.text,
                   expected ? linear(row.expected.per_k, row.expected.constant) : "",
                   linear(row.per_k, row.constant)});
  }
  return table.str() + "\n";
}

std::string level_work(const analysis::Level& level) {
  if (level.bytes <= 0) return "";
  return level.bytes < 1e12 ? fmt::format("{:.3g} GB", level.bytes * 1e-9)
                            : fmt::format("{:.3g} TB", level.bytes * 1e-12);
}

std::string level_time(const analysis::Level& level, bool is_bound) {
  if (!level.is_public) return "not public  ";
  return fmt::format("{} {}", level.seconds > 0 ? format_seconds(level.seconds) : "-   ",
                     is_bound ? '*' : ' ');
}

std::string roofline_text(const Explanation& e) {
  const analysis::Roofline& roofs = e.evidence.roofline;
  const analysis::Level& bound = roofs.bound();
  Table table({"minimum time", "moves", "FLOP/byte", "takes"});
  for (const analysis::Level& level : roofs.levels) {
    const double intensity = level.flops_per_byte(roofs.flops);
    table.add_row({level.name, level_work(level),
                   intensity > 0 ? fmt::format("{:.4g}", intensity) : "",
                   level_time(level, &level == &bound)});
  }
  std::string text = table.str();
  text += wrap(fmt::format("* the bound: {}, {} with {:.0f} % of the SMs busy; rates: {}",
                           bound.name, format_seconds(roofs.seconds()), 100 * roofs.busy,
                           source_of_rates(e.evidence.machine)),
               0);
  if (e.measured) {
    text += wrap(fmt::format("measured: {}, {:.2f} of which the bound explains ({})",
                             format_seconds(e.measured->seconds),
                             roofs.seconds() / e.measured->seconds, e.measured->source),
                 0);
  }
  const bool has_peak = !e.evidence.machine.is_public && roofs.flops > 0;
  if (has_peak) text += wrap(peak_text(e), 0);
  return text + "\n";
}

std::string notes_text(const Explanation& e) {
  std::string text;
  for (const std::string& note : e.notes) text += wrap(note, 0);
  return text.empty() ? text : "\n" + text;
}

std::string limit(int blocks) { return blocks == vgpu::no_limit ? "-" : std::to_string(blocks); }

/// The limits per block, if no other figures are published.
std::string limits_text(const analysis::OccupancyFacts& facts) {
  Table table({"per block", "takes", "of"});
  table.add_row({"threads", std::to_string(facts.threads), std::to_string(facts.max_threads)});
  table.add_row({"shared memory", fmt::format("{} bytes", facts.static_shared),
                 std::to_string(facts.max_shared)});
  return table.str() + "registers, occupancy: not public\n\n";
}

std::string occupancy_text(const Explanation& e) {
  const analysis::OccupancyFacts& facts = e.occupancy;
  if (!facts.is_public) return limits_text(facts);
  const vgpu::Occupancy& o = facts.occupancy;
  Table table({"blocks per SM", "takes", "allows"});
  table.add_row({"registers", fmt::format("{} per thread", facts.registers.count),
                 limit(o.limit_by_registers)});
  table.add_row({"shared memory",
                 fmt::format("{} bytes", facts.static_shared + facts.dynamic_shared),
                 limit(o.limit_by_shared)});
  table.add_row({"warps", fmt::format("{} threads", facts.threads), limit(o.limit_by_warps)});
  table.add_row({"blocks", "", limit(o.limit_by_blocks)});
  std::string text = table.str();
  text += wrap(fmt::format("occupancy: {} block{}, {} warps, {:.0f} %; limited by {} ({})",
                           o.blocks, o.blocks == 1 ? "" : "s", o.warps, 100 * o.fraction,
                           analysis::binding_limit(o), facts.registers.source),
               0);
  if (facts.achieved && *facts.achieved < 0.95 * o.fraction) {
    text += wrap(
        fmt::format("achieved: {:.2g} %, because the grid has {:.0f} blocks for {} SMs",
                    100 * *facts.achieved, e.evidence.blocks, e.evidence.machine.multiprocessors),
        0);
  }
  if (facts.registers.spilled_bytes > 0) {
    text += fmt::format("{} bytes of registers are spilled\n", facts.registers.spilled_bytes);
  }
  return text + "\n";
}

std::string mix_line(const std::string& what, const analysis::InstructionMix& mix) {
  std::string text =
      fmt::format("{}: {:.1f} % multiply-adds{}", what, 100 * mix.multiply_add_share(),
                  mix.of_matrices ? " of matrices" : "");
  if (mix.multiply_adds > 0) {
    text += fmt::format(", {:.3g} loads and {:.2g} barriers for each",
                        mix.loads / mix.multiply_adds, mix.barriers / mix.multiply_adds);
  }
  constexpr std::size_t most = 5;
  text += "; ";
  for (std::size_t i = 0; i < std::min(most, mix.parts.size()); ++i) {
    text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", mix.parts[i].name,
                        100 * mix.parts[i].count / mix.all);
  }
  return wrap(text, 0);
}

std::string mix_text(const Explanation& e) {
  std::string text = mix_line("PTX instructions, as executed", e.ptx);
  if (e.machine_code)
    text += mix_line("machine code, where most multiply-adds are", *e.machine_code);
  return text + "\n";
}

/// The code of a remedy, shown below its text.
std::string code_text(const std::string& code) {
  std::string text;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    text += fmt::format("          {}\n", code.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

std::string diagnosis_text(const Explanation& e) {
  const std::string why_not = e.why_not_predicted.empty()
                                  ? ""
                                  : wrap("the call is not predicted: " + e.why_not_predicted, 0);
  if (!e.diagnosis) return why_not;
  const analysis::diagnosis::Diagnosis& diagnosis = *e.diagnosis;
  const analysis::diagnosis::Time& time = diagnosis.time;
  std::string text = why_not + wrap(prediction_text(time, e.evidence.machine, e.errors), 0);
  text += wrap("bound: " + bound_text(time), 0);
  if (diagnosis.findings.empty()) {
    return text + (is_at_bound(time) ? "next: nothing; the kernel is at its bound\n"
                                     : "next: no single cause costs much\n");
  }
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    const analysis::diagnosis::Finding& finding = diagnosis.findings[i];
    const double gain = 1 - finding.seconds_after / time.with_launch();
    text += wrap(fmt::format("{}: {}, -{:.0f} %: to {}: {}", i == 0 ? "next" : "then", finding.name,
                             100 * gain, format_seconds(finding.seconds_after), finding.detail),
                 0);
    text += wrap(finding.remedy, 6) + code_text(finding.code);
    if (!finding.rung.empty()) text += wrap(fmt::format("{}: {}", finding.rung, finding.idea), 6);
  }
  return text;
}

std::string hardware_text(const Explanation& e) {
  if (!e.hardware) {
    return e.why_no_hardware.empty()
               ? ""
               : wrap(fmt::format("hardware counters: {}", e.why_no_hardware), 0);
  }
  const auto count = [](double value) { return format_count(static_cast<std::uint64_t>(value)); };
  Table table({"per launch", "virtual GPU", "hardware"});
  for (const auto& [name, value] : e.hardware->counters) {
    table.add_row({name, count(e.evidence.counters.at(name)), count(value)});
  }
  std::string text = fmt::format("\n{}", table.str());
  if (!e.hardware->limits.empty()) {
    std::string allowed =
        fmt::format("blocks by ncu, with {} registers per thread:", e.hardware->registers);
    for (const auto& [limit, blocks] : e.hardware->limits) {
      allowed += fmt::format(" {} {}", limit, blocks);
    }
    text += wrap(allowed, 0);
  }
  text += "stall reasons";
  for (std::size_t i = 0; i < std::min<std::size_t>(4, e.hardware->stalls.size()); ++i) {
    const auto& [reason, part] = e.hardware->stalls[i];
    text += fmt::format("{} {} {:.0f} %", i == 0 ? ":" : ",", reason, 100 * part);
  }
  return text + "\n";
}

}  // namespace

std::string prediction_text(const analysis::diagnosis::Time& time, const analysis::Machine& machine,
                            const analysis::diagnosis::PredictionErrors& errors) {
  const bool is_measured = machine.name.find("H200") != std::string::npos ||
                           machine.name.find("H100") != std::string::npos;
  return fmt::format(
      "predicted: {}, of which {} to launch; most of the rest is {}. On an H200 and an H100, half "
      "of "
      "such predictions were within {:.0f} %, and nine of ten within {:.0f} %{}",
      format_seconds(time.with_launch()), format_seconds(time.launch), time.longest().name,
      100 * errors.median, 100 * errors.ninth_decile,
      is_measured ? ""
                  : fmt::format("; for {}, the H200's cycles are taken with the clock, cores and "
                                "bandwidth of the data sheet, and no prediction was compared with "
                                "a measurement",
                                machine.name));
}

std::optional<double> uncached_flops(const Explanation& e) {
  const analysis::Roofline& roofs = e.evidence.roofline;
  for (const analysis::Level& level : roofs.levels) {
    if (level.name == analysis::uncached_level && level.seconds > 0)
      return roofs.flops / level.seconds;
  }
  return std::nullopt;
}

std::string peak_text(const Explanation& e) {
  const analysis::Machine& machine = e.evidence.machine;
  std::string text = fmt::format(
      "peak: {} cores x {:.0f} FLOP a clock x {:.4g} GHz = {:.0f} GFLOP/s", machine.multiprocessors,
      2 * machine.multiply_adds_a_cycle(), machine.clock * 1e-9, machine.flops * 1e-9);
  const auto uncached = uncached_flops(e);
  if (uncached) {
    text += fmt::format("; if no cache helped, {:.3g} FLOP/byte x {:.0f} GB/s = {:.0f} GFLOP/s",
                        *uncached / machine.memory_bytes, machine.memory_bytes * 1e-9,
                        *uncached * 1e-9);
  }
  if (e.reference) {
    text += fmt::format("; {}: {:.2f} GFLOP/s, {:.1f} % of the peak", e.reference->whose,
                        e.reference->flops * 1e-9, 100 * e.reference->flops / machine.flops);
    if (uncached) text += fmt::format(", {:.2f} times the other", e.reference->flops / *uncached);
  }
  return text;
}

std::string source_of_rates(const analysis::Machine& machine) {
  const bool is_other = machine.sheet_flops > 0 && machine.sheet_flops != machine.flops;
  if (!is_other) return machine.source;
  return fmt::format("{}; the data sheet says {:.4g} TFLOP/s", machine.source,
                     machine.sheet_flops * 1e-12);
}

std::string explanation_text(const Explanation& e) {
  return fmt::format("counted: {}, {}\n", e.sample, e.code) +
         (e.tiles.empty() ? "\n" : wrap("tiles: " + e.tiles, 0) + "\n") + traffic_text(e) +
         roofline_text(e) + occupancy_text(e) + mix_text(e) + diagnosis_text(e) + hardware_text(e) +
         notes_text(e);
}

}  // namespace rung
