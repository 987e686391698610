#include "vgpu/driver/program_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "vgpu/driver/memory_labels.hpp"

namespace rung::vgpu {
namespace {
std::atomic<MemoryLabel> memory_label = nullptr;
}

void set_memory_label(MemoryLabel label) { memory_label = label; }

namespace driver {
namespace {

constexpr std::size_t most_reports = 1000;

const char* verb_of(Touch touch) {
  switch (touch) {
    case Touch::read:
    case Touch::synchronized_read: return "reads";
    case Touch::write: return "writes";
    case Touch::synchronized_write: return "updates";
  }
  return "";
}

const char* access_of(Touch touch) {
  return touch == Touch::read || touch == Touch::synchronized_read ? "read" : "write";
}

}  // namespace

void ProgramReports::observe(OrderObserver observer, ProgramSource* source) {
  observer_ = std::move(observer);
  source_ = source;
}

std::uint32_t ProgramReports::label(const OperationText& text) {
  const auto [found, is_new] = labels_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(&found->first);
  return found->second;
}

std::string ProgramReports::stream_name(const OperationText& operation) {
  const std::string graph = operation.in_graph ? "a graph in " : "";
  if (operation.stream == host) return "the host";
  if (operation.stream == legacy_stream) return graph + "the default stream";
  const auto site = stream_sites_.find(operation.stream);
  if (site == stream_sites_.end()) return graph + "the per-thread default stream";
  const std::string variable = source_ == nullptr ? "" : source_->variable(site->second);
  // Several streams may have the name of one array.
  const std::size_t number =
      stream_numbers_.try_emplace(operation.stream, stream_numbers_.size() + 1).first->second;
  std::size_t same = 0;
  for (const auto& [stream, other] : stream_sites_) same += other == site->second ? 1 : 0;
  if (variable.empty()) return fmt::format("{}stream {}", graph, number);
  return same > 1 ? fmt::format("{}stream {} of {}", graph, number, variable)
                  : fmt::format("{}stream {}", graph, variable);
}

std::string ProgramReports::stream_name(const OperationText& operation,
                                        const OperationText* earlier) {
  std::string name = stream_name(operation);
  if (earlier == nullptr || earlier->stream == operation.stream || stream_name(*earlier) != name) {
    return name;
  }
  // The dispatches of a concurrent encoder of Metal are streams of one name.
  if (name.find("concurrent ") != name.npos) return name;
  const std::size_t at = name.find("stream ");
  return at == name.npos ? "the default stream of another thread" : name.insert(at, "another ");
}

std::string ProgramReports::program_name(std::uint64_t allocation) {
  const MemoryLabel label_of = memory_label;
  const std::string label = label_of == nullptr ? "" : label_of(allocation);
  if (!label.empty()) return fmt::format("'{}'", label);
  const auto site = memory_sites_.find(allocation);
  return site == memory_sites_.end() || source_ == nullptr ? "" : source_->variable(site->second);
}

std::string ProgramReports::memory_name(std::uint64_t address, const DeviceMemory& memory) {
  const Allocation* const allocation = memory.find(address);
  if (allocation == nullptr) return memory.describe(address);
  const std::string name = program_name(allocation->address);
  if (name.empty() || !allocation->name.empty()) return memory.describe(address);
  const std::uint64_t offset = address - allocation->address;
  return offset == 0 ? name : fmt::format("{} + {} bytes", name, offset);
}

Party ProgramReports::party_of(const Named& operation, const char* access) {
  Party party;
  party.access = access;
  party.source = operation.line.name;
  party.file = operation.line.file;
  party.line = operation.line.line;
  party.instruction = operation.what;
  return party;
}

ProgramReports::Named ProgramReports::named(std::uint32_t label, Touch touch,
                                            const OperationText* earlier) {
  const OperationText& operation = *texts_[label];
  Named named;
  named.kernel = operation.kernel;
  named.verb = operation.verb.empty() ? verb_of(touch) : operation.verb;
  if (source_ != nullptr) named.line = source_->line(operation.site);
  named.what =
      fmt::format("{}{}{}", operation.what, operation.kernel.empty() ? "" : " ", operation.kernel);
  const std::string callers =
      named.line.callers.empty() ? "" : fmt::format("called at {}, ", named.line.callers);
  named.text =
      fmt::format("{} ({}{}{}{})", named.what, named.line.name, named.line.name.empty() ? "" : ", ",
                  callers, stream_name(operation, earlier));
  named.site =
      named.line.name.empty() ? named.text : fmt::format("{} {}", named.what, named.line.name);
  return named;
}

void ProgramReports::send(const Named& earlier, const Named& later,
                          const ProgramShadow::Conflict& conflict, const DeviceMemory& memory) {
  if (reported_sites_.size() >= most_reports ||
      !reported_sites_.emplace(std::minmax(earlier.site, later.site)).second) {
    return;
  }
  Hazard hazard{};
  hazard.kind = HazardKind::unordered;
  // The first by name, so that a pair has the same kernel in each order.
  const auto& [kernel, other_kernel] = std::minmax(earlier.kernel, later.kernel);
  hazard.kernel = kernel.empty() ? other_kernel : kernel;
  hazard.first = party_of(later, access_of(conflict.touch));
  hazard.has_other = true;
  hazard.other = party_of(earlier, access_of(conflict.earlier_touch));
  hazard.address = memory.describe(conflict.address);
  hazard.message =
      fmt::format("{}: {} {} {}; {} {} it; nothing orders them", name(hazard.kind), earlier.text,
                  earlier.verb, memory_name(conflict.address, memory), later.text, later.verb);
  observer_(hazard);
}

void ProgramReports::report(const ProgramShadow::Conflict& conflict, std::uint32_t label,
                            const DeviceMemory& memory) {
  if (!reported_.emplace(conflict.earlier.label, label).second) return;
  send(named(conflict.earlier.label, conflict.earlier_touch),
       named(label, conflict.touch, texts_[conflict.earlier.label]), conflict, memory);
}

void ProgramReports::report_host(const ProgramShadow::Conflict& conflict,
                                 const ProgramSource::Line& line, const OperationText* function,
                                 const DeviceMemory& memory) {
  const std::string what = function == nullptr ? "the host" : "host function";
  std::string text = what, where = line.name;
  if (function != nullptr) where += (where.empty() ? "" : ", ") + stream_name(*function);
  if (!where.empty()) text += fmt::format(" ({})", where);
  const Named by_host{what, text, text, verb_of(conflict.touch), line, {}};
  send(named(conflict.earlier.label, conflict.earlier_touch), by_host, conflict, memory);
}

ProgramReports::Named ProgramReports::named(std::uint32_t site, const char* what) const {
  Named named;
  named.what = what;
  if (source_ != nullptr) named.line = source_->line(site);
  named.text =
      fmt::format("the {}{}{}", what, named.line.name.empty() ? "" : " at ", named.line.name);
  return named;
}

void ProgramReports::send_unwritten(const Named& reader, const char* access, std::uint64_t address,
                                    const std::string& text, const DeviceMemory& memory) {
  Hazard hazard{};
  hazard.kind = HazardKind::uninitialised_read;
  hazard.first = party_of(reader, access);
  hazard.address = memory.describe(address);
  hazard.message = fmt::format("{}: {} {}", name(hazard.kind), reader.text, text);
  observer_(hazard);
}

void ProgramReports::report_unwritten(std::uint64_t address, std::uint64_t bytes,
                                      std::uint64_t unwritten, const DeviceMemory& memory) {
  if (!observer_ || !unwritten_sites_.insert(site()).second) return;
  const std::string memory_text = memory_name(address, memory);
  const std::string text =
      unwritten == bytes
          ? fmt::format("takes {} bytes of {} that no kernel, copy or fill has written", bytes,
                        memory_text)
          : fmt::format(
                "takes {} bytes of {}, and no kernel, copy or fill has written the last {} of them",
                bytes, memory_text, unwritten);
  send_unwritten(named(site(), "copy to the host"), "copy", address + bytes - unwritten, text,
                 memory);
}

void ProgramReports::report_condition(std::uint32_t site, std::uint64_t address,
                                      const DeviceMemory& memory) {
  if (!observer_ || !unwritten_sites_.insert(site).second) return;
  send_unwritten(
      named(site, "conditional node"), "read", address,
      "reads its condition, which has no default and which no kernel has set since the graph "
      "started",
      memory);
}

}  // namespace driver
}  // namespace rung::vgpu
