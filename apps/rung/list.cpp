// rung list: lists the rungs, and where they can run.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "arguments.hpp"
#include "command_line.hpp"
#include "measure/verify_weights.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace rung {
namespace {

std::vector<std::string_view> dtypes_of(const RungInfo& rung, const Backend& backend) {
  if (takes_packed_weights(rung.id)) return {name(Dtype::bf16), name(Dtype::f16)};
  std::vector<std::string_view> names;
  for (const Dtype dtype : all_dtypes) {
    if (!backend.why_not(rung, dtype)) names.push_back(name(dtype));
  }
  return names;
}

Json availability(const RungInfo& rung, const Backend& backend) {
  std::string reason;
  for (const Dtype dtype : all_dtypes) {
    const auto why_not = backend.why_not(rung, dtype);
    if (!why_not) return true;
    if (reason.empty()) reason = *why_not;
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

void print(const Json& rung) {
  std::vector<std::string> here;
  std::vector<std::string> reasons;
  for (const auto& [device, available] : rung.at("devices").items()) {
    if (available == true) {
      here.push_back(device);
    } else {
      reasons.push_back(fmt::format("{}: {}", device, available.get<std::string>()));
    }
  }
  const auto dtypes = rung.at("dtypes").get<std::vector<std::string>>();
  const auto text = [&](const char* key) { return rung.at(key).get<std::string>(); };
  const std::string devices =
      here.empty() ? "nothing here" : fmt::format("{}", fmt::join(here, ", "));
  fmt::print("{}\n{}{}{}", text("id"), wrap(text("idea"), 4),
             wrap(fmt::format("types: {}; needs: {}", fmt::join(dtypes, " "), text("requires")), 4),
             wrap(fmt::format("runs on: {} ({})", devices, fmt::join(reasons, "; ")), 4));
}

}  // namespace

Action add_list(Options& app) {
  auto arguments = std::make_shared<CommonArguments>();
  arguments->add_selectors(app, false);
  arguments->add_json(app);
  app.footer("Examples:\n  rung list\n  rung list gemm/cpu --json -");
  return [arguments] {
    const auto output = read_json(arguments->json);
    Json rungs = Json::array();
    for (const RungInfo* rung : read_selectors(arguments->selectors))
      rungs.push_back(to_json(*rung));
    if (output) {
      output->write(dump(rungs));
    } else {
      for (const Json& rung : rungs) print(rung);
    }
    return exit_right;
  };
}

}  // namespace rung
