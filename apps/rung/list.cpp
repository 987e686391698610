// rung list: the rungs and the library's kernels, a line each, or the details of those that are named.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "arguments.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "help.hpp"
#include "tools/measure/verify_weights.hpp"
#include "tools/report/json.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

std::vector<std::string_view> dtypes_of(const RungInfo& rung, const Backend& backend) {
  if (takes_packed_weights(rung.id)) return {name(Dtype::bf16), name(Dtype::f16)};
  std::vector<std::string_view> names;
  for (const Dtype dtype : all_dtypes) {
    const auto why_not = backend.why_not(rung, dtype);
    if (!why_not || *why_not != no_dtype(dtype)) names.push_back(name(dtype));
  }
  return names;
}

Json availability(const RungInfo& rung, const Backend& backend) {
  std::string reason;
  for (const Dtype dtype : all_dtypes) {
    const auto why_not = backend.why_not(rung, dtype);
    if (!why_not) return true;
    if (reason.empty() || *why_not != no_dtype(dtype)) reason = *why_not;
  }
  return reason;
}

Json to_json(const RungInfo& rung) {
  Json devices = Json::object();
  std::vector<std::string_view> dtypes;
  for (const std::string_view device : device_names) {
    const Backend& backend = *find_backend(device, rung.backend);
    const bool is_here = is_for(rung, device) && !backend.absent();
    if (is_here) dtypes = dtypes_of(rung, backend);
    devices[std::string(device)] =
        is_here && takes_packed_weights(rung.id) ? Json(true) : availability(rung, backend);
  }
  return {{"id", rung.id},     {"op", rung.op},    {"backend", rung.backend}, {"idea", rung.idea},
          {"from", rung.from}, {"dtypes", dtypes}, {"requires", rung.needs},  {"devices", devices}};
}

/// Every device that rungs of this backend are for, with the reason where it is not available:
/// "virtual; not on gpu: no NVIDIA driver here".
std::string devices_text(const RungInfo& rung, const Json& devices) {
  std::vector<std::string> here, reasons;
  for (const auto& [device, available] : devices.items()) {
    if (available == true) {
      here.push_back(device);
    } else if (device == "virtual" && usual_gpu(rung) == "b200") {
      here.push_back("virtual with --gpu b200");
    } else if (is_for(rung, device)) {
      reasons.push_back(fmt::format("not on {}: {}", device, available.get<std::string>()));
    }
  }
  std::string text = here.empty() ? "nothing here" : fmt::format("{}", fmt::join(here, ", "));
  for (const std::string& reason : reasons) text += "; " + reason;
  return text;
}

void print_details(const RungInfo& rung, const Json& json) {
  const auto dtypes = json.at("dtypes").get<std::vector<std::string>>();
  fmt::print("{}\n{}", rung.id, wrap(rung.idea, 4));
  if (!rung.from.empty()) fmt::print("{}", wrap("from: " + rung.from, 4));
  fmt::print("{}{}{}", wrap(fmt::format("types: {}", fmt::join(dtypes, " ")), 4),
             wrap("needs: " + rung.needs, 4),
             wrap("runs on: " + devices_text(rung, json.at("devices")), 4));
  if (!rung.shown_by.empty()) fmt::print("    try: {}\n", rung.shown_by);
}

/// True for rungs of one ladder, and for kernels of one op and backend.
bool are_together(const RungInfo& one, const RungInfo& other) {
  return one.op == other.op && one.backend == other.backend &&
         one.is_on_ladder() == other.is_on_ladder();
}

/// One line for each rung: the ladders, then the library's kernels.
void print_lines(const std::vector<const RungInfo*>& selected) {
  const std::size_t width = terminal_width(STDOUT_FILENO);
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const RungInfo& rung = *selected[i];
    const bool is_first_kernel = i > 0 && selected[i - 1]->is_on_ladder() && !rung.is_on_ladder();
    if (is_first_kernel) fmt::print("\nThe library's kernels:\n");
    std::size_t longest = 0;
    for (const RungInfo* other : selected) {
      if (are_together(rung, *other)) longest = std::max(longest, other->id.size());
    }
    fmt::print("{}\n", cut(fmt::format("{:<{}}  {}", rung.id, longest, rung.idea), width));
  }
  fmt::print("\n'rung list {}' has its details.\n", selected.front()->id);
}

/// True if each selector names one rung: a reader who names rungs wants to know more about them.
bool are_rungs(const std::vector<std::string>& selectors,
               const std::vector<const RungInfo*>& selected) {
  return selected.size() <= selectors.size();
}

}  // namespace

Action add_list(Options& app) {
  auto arguments = std::make_shared<CommonArguments>();
  arguments->add_selectors(app, false);
  arguments->add_json(app);
  app.footer(
      "One line for each rung; of rungs that are named, also their types, requirements and "
      "devices.\n\n"
      "Examples:\n  rung list\n  rung list gemm/cuda/07\n  rung list gemm/cpu --json -");
  return [arguments] {
    const auto output = read_json(arguments->json);
    const auto selected = read_selectors(arguments->selectors);
    if (!output && !are_rungs(arguments->selectors, selected)) {
      print_lines(selected);
      return exit_right;
    }
    Json rungs = Json::array();
    for (const RungInfo* rung : selected) {
      rungs.push_back(to_json(*rung));
      if (!output) print_details(*rung, rungs.back());
    }
    if (output) output->write(dump(rungs));
    return exit_right;
  };
}

}  // namespace rung
