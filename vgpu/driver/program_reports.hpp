#pragma once
// Reports of unordered operations: names the operations and their memory, and reports each pair of
// program lines once.

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/happens_before/program_shadow.hpp"

namespace rung::vgpu::driver {

/// An operation, for reports.
struct OperationText {
  std::string what;          // "copy", "kernel", "cudaFreeAsync"
  std::string kernel;        // its name, if it is a kernel
  std::string verb;          // instead of "writes": "frees"
  std::uint32_t site = 0;    // ProgramSource::here()
  std::uint64_t stream = 0;  // StreamState::id, legacy_stream or host
  bool in_graph = false;

  auto operator<=>(const OperationText&) const = default;
};

class ProgramReports {
 public:
  // In place of a StreamState::id.
  static constexpr std::uint64_t legacy_stream = 0, host = 1;

  void observe(OrderObserver observer, ProgramSource* source);
  bool has_observer() const { return static_cast<bool>(observer_); }
  /// The program's call that is under way.
  std::uint32_t site() const { return source_ == nullptr ? 0 : source_->here(); }

  /// The call that is under way creates a stream: it is named like the variable that receives it.
  void name_stream(std::uint64_t stream) {
    if (has_observer()) stream_sites_[stream] = site();
  }
  /// The call allocates memory.
  void name_memory(std::uint64_t address) {
    if (has_observer()) memory_sites_[address] = site();
  }
  void forget_memory(std::uint64_t address) { memory_sites_.erase(address); }

  /// The variable that received the address or, if it is unknown, DeviceMemory::describe().
  /// The label or the variable of an allocation. Empty if neither is known.
  std::string program_name(std::uint64_t allocation);
  std::string memory_name(std::uint64_t address, const DeviceMemory& memory);

  /// A number for an operation, for ProgramAccess::label.
  std::uint32_t label(const OperationText& text);

  /// An access of the operation with that label conflicts with an earlier one.
  void report(const ProgramShadow::Conflict& conflict, std::uint32_t label,
              const DeviceMemory& memory);
  /// An access of the host conflicts with an earlier one of an operation. `function`: the host
  /// function that makes it, or null.
  void report_host(const ProgramShadow::Conflict& conflict, const ProgramSource::Line& line,
                   const OperationText* function, const DeviceMemory& memory);
  /// The call that is under way copies `bytes` from the address to the host, and nothing has written
  /// the last `unwritten` of them. Reports each line once.
  void report_unwritten(std::uint64_t address, std::uint64_t bytes, std::uint64_t unwritten,
                        const DeviceMemory& memory);
  /// The conditional node that the call `site` made reads its condition at this address, which nothing has
  /// set since its graph started. Reports each node once.
  void report_condition(std::uint32_t site, std::uint64_t address, const DeviceMemory& memory);

 private:
  struct Named {
    std::string what;  // "kernel fill"
    std::string text;  // "kernel fill (a.cu:14, stream a)"
    std::string site;  // the same without the stream, if the line is known
    std::string verb;
    ProgramSource::Line line;
    std::string kernel;
  };
  /// `earlier`: the other operation of the report, if it comes first.
  Named named(std::uint32_t label, Touch touch, const OperationText* earlier = nullptr);
  Named named(std::uint32_t site, const char* what) const;
  /// `access`: "read", "write" or "copy".
  static Party party_of(const Named& operation, const char* access);
  /// Sends a read of what nothing has written. `text`: the rest of the message.
  void send_unwritten(const Named& reader, const char* access, std::uint64_t address,
                      const std::string& text, const DeviceMemory& memory);
  std::string stream_name(const OperationText& operation);
  /// Also tells two streams of one name apart.
  std::string stream_name(const OperationText& operation, const OperationText* earlier);
  void send(const Named& earlier, const Named& later, const ProgramShadow::Conflict& conflict,
            const DeviceMemory& memory);

  OrderObserver observer_;
  ProgramSource* source_ = nullptr;
  std::map<OperationText, std::uint32_t> labels_;
  std::vector<const OperationText*> texts_;  // by label
  std::map<std::uint64_t, std::uint32_t> stream_sites_, memory_sites_;
  std::map<std::uint64_t, std::size_t> stream_numbers_;         // in the order of reports
  std::set<std::pair<std::uint32_t, std::uint32_t>> reported_;  // pairs of labels
  std::set<std::uint32_t> unwritten_sites_;
  std::set<std::pair<std::string, std::string>> reported_sites_;  // the lesser of a pair first
};

}  // namespace rung::vgpu::driver
