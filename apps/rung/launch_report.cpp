#include "launch_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "emu/reports/conclusion.hpp"
#include "emu/reports/launch_json.hpp"
#include "emu/reports/merged.hpp"
#include "tools/report/table.hpp"
#include "tools/report/trace.hpp"

namespace rung {
namespace {

using any_kernel::Kernel;
using any_kernel::Leaf;
using any_kernel::Outcome;
using any_kernel::Parameter;
using any_kernel::Program;
using any_kernel::Result;
using any_kernel::Scalar;
using any_kernel::Type;

constexpr std::size_t shown_values = 8;

/// The type that a pointer or reference refers to, or the type itself.
const Type* value_type(const Parameter& parameter) {
  return parameter.type->is_address() ? parameter.type->element.get() : parameter.type.get();
}

std::vector<std::string> fields_of(const Parameter& parameter) {
  std::vector<std::string> fields;
  const Type* const type = value_type(parameter);
  if (type == nullptr || type->kind != Type::Kind::record) return fields;
  for (const Leaf& leaf : any_kernel::leaves(*type)) {
    fields.push_back(fmt::format(
        "{} {}", leaf.address != nullptr ? leaf.address->name : name(leaf.scalar), leaf.name));
  }
  return fields;
}

const char* kind_text(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::buffer: return parameter.type->to_const ? "input" : "buffer";
    case Parameter::Kind::threadgroup: return "threadgroup memory";
    case Parameter::Kind::texture: return "texture";
    case Parameter::Kind::sampler: return "sampler";
    case Parameter::Kind::value: break;
  }
  return "value";
}

std::string kernel_text(const Kernel& kernel, const std::string& file) {
  std::string text = fmt::format("{}, line {} of {}\n", kernel.name, kernel.line, file);
  Table table({"", "", "", ""});
  for (const Parameter& parameter : kernel.parameters) {
    table.add_row({std::to_string(parameter.index), parameter.name, kind_text(parameter),
                   parameter.type->name});
  }
  std::string rows = table.str();
  for (const Parameter& parameter : kernel.parameters) {
    const std::vector<std::string> fields = fields_of(parameter);
    if (fields.empty()) continue;
    rows += wrap(fmt::format("{}: {}", value_type(parameter)->name, fmt::join(fields, ", ")), 2);
  }
  return text + rows;
}

std::string value_text(Scalar scalar, const std::byte* at) {
  const long double value = any_kernel::load(scalar, at);
  return any_kernel::is_real(scalar) ? fmt::format("{:.6Lg}", value)
                                     : fmt::format("{:.0Lf}", value);
}

/// "C  24x40 float  0.25 1.5 …; 3 of 960 elements were not written"
std::string result_text(const Result& result) {
  const auto& array = result.array;
  std::string text =
      fmt::format("{}  {} {} ", result.name, any_kernel::to_text(array.shape), array.element->name);
  const std::vector<Leaf> all = any_kernel::leaves(*array.element);
  std::size_t shown = 0, count = 0, nan = 0;
  for (std::size_t at = 0; at + array.element->bytes <= array.bytes.size();
       at += array.element->bytes) {
    for (const Leaf& leaf : all) {
      const std::byte* const value = array.bytes.data() + at + leaf.offset;
      ++count;
      nan += any_kernel::is_real(leaf.scalar) && std::isnan(any_kernel::load(leaf.scalar, value))
                 ? 1
                 : 0;
      if (shown == shown_values) continue;
      text += " " + value_text(leaf.scalar, value);
      ++shown;
    }
  }
  if (count > shown) text += " ...";
  if (nan > 0) text += fmt::format("; {} NaN", nan);
  if (result.unwritten > 0) {
    text += fmt::format("; {} of {} elements were not written", result.unwritten,
                        any_kernel::count(array.shape));
  }
  return text + "\n";
}

std::vector<vgpu::LineCounters> lines_of(const KernelLaunch& launch, const Outcome& outcome) {
  auto lines = vgpu::by_line(outcome.report, outcome.sites);
  add_text(lines, launch.program().file_name(), launch.program().text);
  return lines;
}

Json result_json(const Result& result) {
  Json json = {{"name", result.name},
               {"shape", result.array.scalar_shape()},
               {"type", result.array.element->name},
               {"unwritten", result.unwritten}};
  const auto scalar = any_kernel::common_scalar(*result.array.element);
  if (!scalar) return json;
  Json values = Json::array();
  const std::vector<Leaf> all = any_kernel::leaves(*result.array.element);
  for (std::size_t at = 0; at + result.array.element->bytes <= result.array.bytes.size();
       at += result.array.element->bytes) {
    for (const Leaf& leaf : all) {
      if (values.size() == shown_values) break;
      values.push_back(static_cast<double>(
          any_kernel::load(*scalar, result.array.bytes.data() + at + leaf.offset)));
    }
  }
  json["values"] = std::move(values);
  return json;
}

/// Hazards of a kind at the same lines are one line, with what to do, as in `rung emu`.
std::string merged_hazards(const Outcome& outcome) {
  emu::Reports reports;
  reports.add_launch(emu::to_json(outcome.report));
  const std::string text = emu::reports_text(reports, {});
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string kernels_text(const Program& program) {
  std::string text;
  for (const Kernel& kernel : program.kernels) {
    text += (text.empty() ? "" : "\n") + kernel_text(kernel, program.file_name());
  }
  for (const std::string& name : program.templates) {
    text += fmt::format("{}{}, a template: ", text.empty() ? "" : "\n", name);
    text += program.is_metal
                ? fmt::format(
                      "instantiate it, as in template [[host_name(\"{0}_float\")]] kernel "
                      "void {0}<float>(...);\n",
                      name)
                : fmt::format("name its arguments, as in '{}:{}<float>'\n", program.path.string(),
                              name);
  }
  if (!program.constants.empty()) {
    text += fmt::format("{}function constants, given by name: {}\n", text.empty() ? "" : "\n",
                        fmt::join(program.constants, ", "));
  }
  return text.empty() ? fmt::format("{} has no kernel\n", program.file_name()) : text;
}

Json kernels_json(const Program& program) {
  Json kernels = Json::array();
  for (const Kernel& kernel : program.kernels) {
    Json parameters = Json::array();
    for (const Parameter& parameter : kernel.parameters) {
      Json json = {{"name", parameter.name},
                   {"index", parameter.index},
                   {"kind", kind_text(parameter)},
                   {"type", parameter.type->name}};
      const Type* const type = value_type(parameter);
      if (type != nullptr) json["bytes"] = type->bytes;
      if (const auto fields = fields_of(parameter); !fields.empty()) json["fields"] = fields;
      parameters.push_back(std::move(json));
    }
    kernels.push_back({{"name", kernel.name}, {"line", kernel.line}, {"parameters", parameters}});
  }
  return {{"file", program.path.string()},
          {"kernels", kernels},
          {"templates", program.templates},
          {"constants", program.constants}};
}

std::string outcome_text(const KernelLaunch& launch, const Outcome& outcome, bool with_lines) {
  std::string text = outcome.report.printed.empty() ? "" : "\n" + outcome.report.printed;
  if (!outcome.results.empty()) text += "\n";
  for (const Result& result : outcome.results) {
    if (result.is_changed) text += result_text(result);
  }
  for (const auto& judgement : outcome.judgements) text += wrap(judgement.message, 0);
  if (outcome.report.fault) {
    text += fmt::format("the kernel was stopped by {}; its results are not complete\n",
                        vgpu::name(*outcome.report.fault));
  }
  if (outcome.report.observed) {
    text += "\n" + counter_table(outcome.report);
    if (with_lines) text += "\n" + line_table(lines_of(launch, outcome));
  }
  return text + merged_hazards(outcome);
}

Json outcome_json(const KernelLaunch& launch, const Outcome& outcome, bool with_lines) {
  Json json = {{"file", launch.program().path.string()},
               {"kernel", launch.kernel().name},
               {"device", "virtual " + launch.device().name},
               {"code", launch.program().code},
               {"right", outcome.is_right()},
               {"results", Json::array()},
               {"expect", Json::array()}};
  for (const Result& result : outcome.results) json["results"].push_back(result_json(result));
  for (const auto& judgement : outcome.judgements) {
    json["expect"].push_back({{"right", judgement.right},
                              {"max_error_ratio", judgement.max_error_ratio},
                              {"message", judgement.message}});
  }
  const auto lines = with_lines ? lines_of(launch, outcome) : std::vector<vgpu::LineCounters>();
  Json kernel = emu::to_json(outcome.report, lines);
  json["kernels"].push_back(std::move(kernel));
  return json;
}

}  // namespace rung
