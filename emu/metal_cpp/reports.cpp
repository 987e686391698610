// Lines and names of the program's objects, for reports of unordered work.

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <regex>
#include <tuple>

#include "emu/compile/source/assigned_variable.hpp"
#include "emu/metal_cpp/state.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/metal_reports.hpp"
#include "emu/runtime/options.hpp"
#include "emu/runtime/report.hpp"
#include "emu/runtime/variables.hpp"
#include "vgpu/driver/memory_labels.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu::metal_cpp {
namespace {

struct Scoped {
  CallSite site;
  std::string name;
  auto operator<=>(const Scoped&) const = default;
};
thread_local const Scoped* current = nullptr;

/// The lines of encoding, rather than those of commit, and names of encoders in place of streams.
class Source : public vgpu::ProgramSource {
 public:
  std::uint32_t here() override {
    const Scoped scoped = current == nullptr ? Scoped{CallSite::here(), {}} : *current;
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] =
        numbers_.try_emplace(scoped, static_cast<std::uint32_t>(sites_.size()));
    if (is_new) sites_.push_back(&found->first);
    return found->second;
  }
  Line line(std::uint32_t site) override {
    const CallSite::Line line = at(site).site.line();
    return {line.file, line.line, line.short_name(), {}};
  }
  std::string variable(std::uint32_t site) override {
    const Scoped scoped = at(site);
    return scoped.name.empty() ? name_of_result(scoped.site, "newBuffer", "buffer") : scoped.name;
  }

 private:
  Scoped at(std::uint32_t site) {
    const std::lock_guard lock(mutex_);
    return *sites_.at(site);
  }

  std::mutex mutex_;
  std::map<Scoped, std::uint32_t> numbers_;
  std::vector<const Scoped*> sites_;
};

/// In Metal's words.
void report_unordered(const vgpu::Hazard& found) {
  static const std::regex& stream = *new std::regex(R"(stream (\d+ of )?)");
  static const std::regex& host = *new std::regex(R"(\bthe host\b)");
  vgpu::Hazard hazard = found;
  hazard.message = std::regex_replace(hazard.message, stream, "");
  hazard.message = std::regex_replace(hazard.message, host, "the CPU");
  report_hazard(hazard);
}

}  // namespace

namespace {

std::string read_name(const CallSite& site, const std::string& function, const char* what) {
  const CallSite::Line line = site.line();
  const std::string name = assigned_variable(source_text(line.file), line.line, function);
  if (!name.empty()) return name;
  const std::string where = line.short_name();
  return where.empty() ? what : fmt::format("{} at {}", what, where);
}

}  // namespace

std::string name_of_result(const CallSite& site, const std::string& function, const char* what) {
  // Each pass asks for its name, and few lines make passes.
  static std::mutex mutex;
  static auto& names = *new std::map<std::tuple<CallSite, std::string, std::string>, std::string>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = names.try_emplace({site, function, what});
  if (is_new) found->second = read_name(site, function, what);
  return found->second;
}

SiteScope::SiteScope(const CallSite& site, std::string name) {
  current = new Scoped{site, std::move(name)};
}
SiteScope::~SiteScope() {
  delete current;
  current = nullptr;
}

void set_up_reports() {
  static Source& source = *new Source;
  set_end_observer(report_leaked_objects);
  if (!flag_variable(check_variable, true) || !flag_variable(order_variable, true)) return;
  vgpu::set_order_observer(report_unordered, &source);
  vgpu::set_memory_label(
      [](std::uint64_t address) { return label_of(reinterpret_cast<const void*>(address)); });
  vgpu::record_all_operations();
}

}  // namespace rung::emu::metal_cpp
