#include "emu/reports/launch_json.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace rung::emu {
namespace {

using vgpu::Counters;

Json to_json(const vgpu::Dim3& extent) { return {extent.x, extent.y, extent.z}; }

struct NamedCounter {
  const char* name;
  std::uint64_t Counters::* value;
};

constexpr NamedCounter named_counters[] = {
    {"global_load_requests", &Counters::global_load_requests},
    {"global_load_sectors", &Counters::global_load_sectors},
    {"global_store_requests", &Counters::global_store_requests},
    {"global_store_sectors", &Counters::global_store_sectors},
    {"shared_load_requests", &Counters::shared_load_requests},
    {"shared_load_wavefronts", &Counters::shared_load_wavefronts},
    {"shared_store_requests", &Counters::shared_store_requests},
    {"shared_store_wavefronts", &Counters::shared_store_wavefronts},
    {"ffma", &Counters::ffma},
    {"instructions", &Counters::instructions},
    {"barriers", &Counters::barriers},
    {"divergent_branches", &Counters::divergent_branches},
    {"branches", &Counters::branches},
    {"thread_instructions", &Counters::thread_instructions},
    {"global_atomics", &Counters::global_atomics},
    {"shared_atomics", &Counters::shared_atomics},
    {"local_load_requests", &Counters::local_load_requests},
    {"local_store_requests", &Counters::local_store_requests},
    {"issued_shared_load_requests", &Counters::issued_shared_load_requests},
    {"issued_shared_load_wavefronts", &Counters::issued_shared_load_wavefronts},
    {"issued_shared_store_requests", &Counters::issued_shared_store_requests},
    {"issued_shared_store_wavefronts", &Counters::issued_shared_store_wavefronts},
    {"bulk_loads", &Counters::bulk_loads},
    {"bulk_load_bytes", &Counters::bulk_load_bytes},
    {"bulk_load_sectors", &Counters::bulk_load_sectors},
    {"bulk_load_lines", &Counters::bulk_load_lines},
    {"bulk_stores", &Counters::bulk_stores},
    {"bulk_store_bytes", &Counters::bulk_store_bytes},
    {"bulk_store_sectors", &Counters::bulk_store_sectors},
    {"bulk_store_lines", &Counters::bulk_store_lines},
    {"bulk_shared_store_bytes", &Counters::bulk_shared_store_bytes},
    {"bulk_shared_load_bytes", &Counters::bulk_shared_load_bytes},
    {"tensor_multiply_adds", &Counters::tensor_multiply_adds},
    {"wgmma_shared_load_bytes", &Counters::wgmma_shared_load_bytes},
    {"wgmma_shared_load_wavefronts", &Counters::wgmma_shared_load_wavefronts},
    {"tcgen05_shared_load_bytes", &Counters::tcgen05_shared_load_bytes}};

struct NamedPart {
  const char* name;
  std::uint64_t vgpu::Footprint::* value;
};

constexpr NamedPart named_parts[] = {
    {"loaded_sectors", &vgpu::Footprint::loaded_sectors},
    {"stored_sectors", &vgpu::Footprint::stored_sectors},
    {"loaded_pieces", &vgpu::Footprint::loaded_pieces},
    {"loaded_sectors_by_block", &vgpu::Footprint::loaded_sectors_by_block},
    {"loaded_sectors_by_warp", &vgpu::Footprint::loaded_sectors_by_warp},
    {"reloaded_sectors", &vgpu::Footprint::reloaded_sectors},
    {"store_sectors", &vgpu::Footprint::store_sectors},
    {"requested_sectors", &vgpu::Footprint::requested_sectors},
    {"aligned_sectors", &vgpu::Footprint::aligned_sectors},
    {"sectors", &vgpu::Footprint::sectors},
    {"load_turns", &vgpu::Footprint::load_turns},
    {"store_turns", &vgpu::Footprint::store_turns},
    {"loaded_lines_by_block", &vgpu::Footprint::loaded_lines_by_block},
    {"partly_stored_sectors", &vgpu::Footprint::partly_stored_sectors},
    {"accesses_of_longest_warps", &vgpu::Footprint::accesses_of_longest_warps},
    {"accesses", &vgpu::Footprint::accesses},
    {"most_of_block", &vgpu::Footprint::max_of_block},
    {"most_of_warp", &vgpu::Footprint::max_of_warp},
    {"atomics_at_one_address", &vgpu::Footprint::atomics_at_one_address},
    {"atomic_passes", &vgpu::Footprint::atomic_passes},
    {"atomic_passes_of_unit", &vgpu::Footprint::atomic_passes_of_unit},
    {"shared_atomic_turns", &vgpu::Footprint::shared_atomic_turns}};

Json to_json(const Counters& counters) {
  Json json = Json::object();
  for (const auto& [name, value] : named_counters) json[name] = counters.*value;
  return json;
}

Json to_json(const vgpu::Party& party) {
  return {{"block", party.block},
          {"thread", party.thread},
          {"access", party.access},
          {"source", party.source},
          {"instruction", with_readable_names(party.instruction)},
          {"file", party.file},
          {"line", party.line}};
}

// Where the parameter list begins: the last '(' outside of all brackets. A variable has none, and
// its only brackets may be those of "(anonymous namespace)::".
std::size_t parameters_of(const std::string& name) {
  if (!name.ends_with(')')) return name.size();
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')' || name[i] == '>') ++depth;
    if (name[i] == '<') --depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

/// The name in the symbol of a function's variable, such as "sum" of "_ZZ1fDF16_E3sum_2"; empty without one.
std::string variable_of(const std::string& symbol) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = symbol.rfind('E'); at != symbol.npos && at > 0;
       at = symbol.rfind('E', at - 1)) {
    std::size_t name = at + 1, length = 0;
    for (; name < symbol.size() && is_digit(symbol[name]) && length < symbol.size(); ++name) {
      length = 10 * length + static_cast<std::size_t>(symbol[name] - '0');
    }
    const std::size_t end = name + length;
    if (length > 0 && (end == symbol.size() || (end < symbol.size() && symbol[end] == '_'))) {
      return symbol.substr(name, length);
    }
  }
  return {};
}

}  // namespace

std::string readable_name(const std::string& symbol) {
  // clang writes "name.1", which PTX does not allow, as "name_$_1".
  constexpr const char* dot = "_$_";
  if (const std::size_t at = symbol.find(dot); at != symbol.npos && at > 0) {
    return readable_name(symbol.substr(0, at));
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) {
    // libstdc++ does not know all types, such as _Float16.
    const std::string variable = symbol.starts_with("_ZZ") ? variable_of(symbol) : "";
    return variable.empty() ? symbol : variable;
  }
  std::string name = demangled.get();
  // A variable of a function: "reverse(int*)::buffer".
  if (symbol.starts_with("_ZZ")) return name.substr(name.rfind(':') + 1);
  name.resize(parameters_of(name));
  // Templates carry their return type, which is void for every kernel.
  const std::string result = "void ";
  return name.starts_with(result) ? name.substr(result.size()) : name;
}

std::string with_readable_names(const std::string& text) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
  };
  std::string readable;
  for (auto at = text.begin(); at != text.end();) {
    const auto word = std::find_if(at, text.end(), in_word);
    const auto end = std::find_if_not(word, text.end(), in_word);
    const std::string symbol(word, end);
    readable.append(at, word);
    readable += symbol.starts_with("_Z") ? readable_name(symbol) : symbol;
    at = end;
  }
  return readable;
}

Json to_json(const vgpu::Hazard& hazard) {
  Json json = {{"kind", name(hazard.kind)},
               {"kernel", readable_name(hazard.kernel)},
               {"message", with_readable_names(hazard.message)},
               {"address", with_readable_names(hazard.address)},
               {"count", hazard.count},
               {"first", to_json(hazard.first)}};
  if (hazard.has_other) json["other"] = to_json(hazard.other);
  return json;
}

std::size_t times_of(const Json& launch) { return launch.value("times", std::size_t{1}); }

Json sites_json(const vgpu::LaunchReport& report, const std::vector<vgpu::Site>& sites) {
  Json json = Json::array();
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const vgpu::SiteCounters& site = report.per_site[i];
    if (site.executions == 0) continue;
    json.push_back({sites[i].ptx_line, site.executions, site.lanes, site.units});
  }
  return json;
}

Json to_json(const vgpu::Footprint& footprint) {
  Json json = Json::object();
  for (const auto& [name, value] : named_parts) json[name] = footprint.*value;
  Json& loads = json["loads"] = Json::array();
  for (const auto& [line, of] : footprint.loads) {
    loads.push_back({line, of.requested, of.first, of.by_block, of.by_warp});
  }
  return json;
}

vgpu::Footprint footprint(const Json& json) {
  vgpu::Footprint footprint;
  for (const auto& [name, value] : named_parts) footprint.*value = json.at(name);
  for (const Json& of : json.at("loads")) {
    footprint.loads[of[0].get<int>()] = {of[1], of[2], of[3], of[4]};
  }
  return footprint;
}

std::string interruption(const Json& interrupted) {
  const int signal = interrupted.at("signal");
  const std::string text = fmt::format("signal {} ({})", signal, strsignal(signal));
  if (!interrupted.contains("kernel")) return text;
  return fmt::format("{}, while {} ran for {:.1f} s", text,
                     interrupted.at("kernel").get<std::string>(),
                     interrupted.at("seconds").get<double>());
}

std::string skipped_launches(const Json& kernel) {
  const std::string name = kernel.at("kernel"), left = kernel.value("left", "run");
  const auto skipped = kernel.at("skipped").get<std::uint64_t>();
  const auto ran = kernel.at("ran").get<std::uint64_t>();
  if (left == "repeated run") {
    return fmt::format(
        "{}: of {} launches, {} repeated one that changed nothing, and did not run again: results, "
        "counters and reports are the same",
        name, skipped + ran, skipped);
  }
  if (left == "checks") {
    return fmt::format(
        "{}: {} launches ran without checks and counters after {} with the same configuration "
        "(--ci): results are right, hazards are those of the checked ones",
        name, skipped, ran);
  }
  return fmt::format(
      "{}: {} launches skipped after {} (--launches): results that need them are wrong", name,
      skipped, ran);
}

vgpu::Counters counters(const Json& json) {
  Counters counters;
  for (const auto& [name, value] : named_counters) counters.*value = json.at(name);
  return counters;
}

Json to_json(const vgpu::LineCounters& line) {
  return {{"line", line.where},
          {"text", line.text},
          {"instructions", line.instructions},
          {"global_requests", line.global_requests},
          {"global_sectors", line.global_sectors},
          {"shared_requests", line.shared_requests},
          {"shared_wavefronts", line.shared_wavefronts},
          {"bulk_sectors", line.bulk_sectors}};
}

vgpu::LineCounters line_counters(const Json& line) {
  return {line.at("line"),
          line.at("text"),
          line.at("instructions"),
          line.at("global_requests"),
          line.at("global_sectors"),
          line.at("shared_requests"),
          line.at("shared_wavefronts"),
          line.at("bulk_sectors")};
}

Json to_json(const vgpu::LaunchReport& report, const std::vector<vgpu::LineCounters>& lines) {
  Json json = {{"name", readable_name(report.kernel)},
               {"symbol", report.kernel},
               {"grid", to_json(report.grid)},
               {"block", to_json(report.block)},
               {"shared", report.shared},
               {"seconds", report.seconds},
               {"observed", report.observed},
               {"counters", to_json(report.counters)},
               {"hazards", Json::array()}};
  for (const vgpu::Hazard& hazard : report.hazards) json["hazards"].push_back(to_json(hazard));
  if (report.fault) json["fault"] = name(*report.fault);
  for (const vgpu::LineCounters& line : lines) json["lines"].push_back(to_json(line));
  return json;
}

}  // namespace rung::emu
