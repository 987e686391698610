#include "emu/runtime/call_site.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <set>

#include "emu/compile/source/discarded_calls.hpp"
#include "vgpu/driver/host_line.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

/// The folder of the headers that programs include, beside this library.
std::string own_headers() {
  const fs::path library = vgpu::object_file_of(reinterpret_cast<const void*>(&own_headers));
  return (library.parent_path() / "include/").string();
}

/// "cudaMalloc" for "_Z10cudaMallocIfE9cudaErrorPPT_m", "cuMemFree" for "cuMemFree_v2".
std::string function_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : symbol;
  name = name.substr(0, name.find_first_of("<("));
  name = name.substr(name.find_last_of(" :") + 1);  // a template carries its return type
  // Never destroyed: reports are written after the program's destructors.
  static const std::regex& version = *new std::regex("(_v[0-9]+)?(_ptsz|_ptds)?$");
  return std::regex_replace(name, version, "", std::regex_constants::format_first_only);
}

}  // namespace

CallSite CallSite::here() {
  CallSite site;
  site.return_addresses_ = vgpu::return_addresses();
  return site;
}

CallSite CallSite::here(std::string file, int line) {
  CallSite site = here();
  site.file_ = std::move(file);
  site.line_ = line;
  return site;
}

CallSite CallSite::here_at(const CallSite& known) { return here(known.file_, known.line_); }

CallSite CallSite::at(std::string file, int line) {
  CallSite site;
  site.file_ = std::move(file);
  site.line_ = line;
  return site;
}

CallSite::Line CallSite::line() const {
  if (!file_.empty() || return_addresses_.empty()) return {file_, line_, {}};
  return found().line;
}

std::vector<CallSite::Line> CallSite::callers() const {
  std::vector<Line> callers;
  for (vgpu::HostLine& line : vgpu::host_call_chain(return_addresses_, own_headers())) {
    callers.push_back({std::move(line.file), line.line, {}});
  }
  // The stub that launches a kernel comes first, at the kernel's line.
  const std::string own = line().short_name();
  const auto is_own = [&](const Line& line) { return line.short_name() == own; };
  const auto found = std::find_if(callers.begin(), callers.end(), is_own);
  callers.erase(callers.begin(), found == callers.end() ? found : found + 1);
  return callers;
}

bool CallSite::shares_line(const CallSite& other, const void* caller) const {
  if (return_addresses_ == other.return_addresses_) return false;
  const auto outward = [&](const std::vector<const void*>& addresses) {
    return std::vector(std::find(addresses.begin(), addresses.end(), caller), addresses.end());
  };
  const auto own = outward(return_addresses_), others = outward(other.return_addresses_);
  if (!others.empty()) return own != others;
  // Inlined functions have their calls more than once.
  return !file_.empty() && file_ == other.file_ && line_ == other.line_;
}

const void* CallSite::caller() const {
  return return_addresses_.empty() ? nullptr : found().caller;
}

const CallSite::Found& CallSite::found() const {
  static std::mutex mutex;
  static std::map<CallSite, Found>& known = *new std::map<CallSite, Found>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(*this);
  if (is_new) found->second = find();
  return found->second;
}

CallSite::Found CallSite::find() const {
  static const std::string& headers = *new std::string(own_headers());
  const vgpu::HostCalls calls = vgpu::host_calls(return_addresses_, headers);
  Line found;
  if (!calls.entry.empty()) found.functions.push_back(function_name(calls.entry));
  for (const vgpu::HostLine& line : calls.lines) {
    if (!line.file.starts_with(headers)) {
      found.file = line.file;
      found.line = line.line;
      break;
    }
    found.functions.push_back(function_name(line.function));
  }
  return {std::move(found), calls.caller};
}

std::string CallSite::Line::short_name() const {
  return file.empty() ? "" : fmt::format("{}:{}", fs::path(file).filename().string(), line);
}

bool is_own_header(const std::string& file) { return file.starts_with(own_headers()); }

std::string source_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string variable_of(const CallSite& call, const std::string& function,
                        const std::function<std::vector<CallSite>()>& calls) {
  const CallSite::Line line = call.line();
  const auto names = allocated_variables(source_text(line.file), line.line, function);
  if (names.size() < 2) return names.empty() ? "" : names.front();
  std::set<const void*> callers;
  for (const CallSite& other : calls()) {
    const CallSite::Line its = other.line();
    if (its.line == line.line && its.file == line.file) callers.insert(other.caller());
  }
  // Some of the calls may not have run, and inlined functions have theirs more than once.
  if (callers.size() != names.size()) return {};
  const auto own = callers.find(call.caller());
  return own == callers.end()
             ? ""
             : names[static_cast<std::size_t>(std::distance(callers.begin(), own))];
}

}  // namespace rung::emu
