#include "emu/runtime/memory_history.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <vector>

#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu {
namespace {

struct Written {
  std::size_t begin, end;  // bytes of the allocation
  std::string call;
  CallSite site;
};

struct Allocated {
  const char* begin;
  std::size_t bytes;
  std::string call;
  CallSite site;
  std::optional<CallSite> freed;
  std::optional<Written> written;  // the last part that a copy wrote
  std::string label;
};

constexpr std::size_t most_allocations = 10000;

struct History {
  std::mutex mutex;
  std::map<std::uint64_t, Allocated> by_number;
  std::map<const char*, std::uint64_t> live;
};
History& history() {
  static History& history = *new History;  // destructors of the program may still free memory
  return history;
}

/// The live allocation that begins at `pointer`, or null. The caller holds the mutex.
Allocated* live_allocation(const void* pointer) {
  const auto found = history().live.find(static_cast<const char*>(pointer));
  if (found == history().live.end()) return nullptr;
  const auto allocation = history().by_number.find(found->second);
  return allocation == history().by_number.end() ? nullptr : &allocation->second;
}

std::string at(const CallSite& site) {
  const std::string where = site.line().short_name();
  return where.empty() ? "" : " at " + where;
}

/// Where this function has allocated memory.
std::vector<CallSite> sites_of(const std::string& call) {
  std::vector<CallSite> sites;
  const std::lock_guard lock(history().mutex);
  for (const auto& [number, allocation] : history().by_number) {
    if (allocation.call == call) sites.push_back(allocation.site);
  }
  return sites;
}

std::string origin(std::uint64_t number, const Allocated& allocation) {
  const std::string name =
      allocation.label.empty()
          ? variable_of(allocation.site, allocation.call, [&] { return sites_of(allocation.call); })
          : fmt::format("'{}'", allocation.label);
  std::string text = fmt::format("; allocation {} is {}from {}", number,
                                 name.empty() ? "" : name + ", ", allocation.call);
  text += at(allocation.site);
  if (allocation.freed) text += ", freed" + at(*allocation.freed);
  return text;
}

/// Names the copy that ended before byte `offset`, which nothing has written.
std::string short_copy(const Allocated& allocation, std::size_t offset) {
  if (!allocation.written || offset < allocation.written->end) return {};
  const Written& written = *allocation.written;
  return fmt::format("; {}{} wrote only bytes {} to {} of it", written.call, at(written.site),
                     written.begin, written.end - 1);
}

}  // namespace

void note_allocated(const void* pointer, std::size_t bytes, const std::string& call,
                    CallSite site) {
  const std::uint64_t number = vgpu::allocation_number(reinterpret_cast<std::uint64_t>(pointer));
  if (number == 0) return;
  const std::lock_guard lock(history().mutex);
  const auto* const begin = static_cast<const char*>(pointer);
  history().by_number[number] = {begin, bytes, call, std::move(site), {}, {}, {}};
  history().live[begin] = number;
  if (history().by_number.size() > most_allocations) {
    history().by_number.erase(history().by_number.begin());
  }
}

void note_freed(const void* pointer) {
  const std::lock_guard lock(history().mutex);
  const auto found = history().live.find(static_cast<const char*>(pointer));
  if (found == history().live.end()) return;
  const auto allocation = history().by_number.find(found->second);
  history().live.erase(found);
  if (allocation != history().by_number.end()) allocation->second.freed = CallSite::here();
}

void note_label(const void* pointer, const std::string& label) {
  const std::lock_guard lock(history().mutex);
  Allocated* const allocation = live_allocation(pointer);
  if (allocation != nullptr) allocation->label = label;
}

std::string label_of(const void* pointer) {
  const std::lock_guard lock(history().mutex);
  const Allocated* const allocation = live_allocation(pointer);
  return allocation == nullptr ? "" : allocation->label;
}

void note_written(const void* pointer, std::size_t bytes, const std::string& call) {
  const std::lock_guard lock(history().mutex);
  const auto* const to = static_cast<const char*>(pointer);
  auto found = history().live.upper_bound(to);
  if (found == history().live.begin()) return;
  const auto allocation = history().by_number.find((--found)->second);
  if (allocation == history().by_number.end()) return;
  const auto begin = static_cast<std::size_t>(to - allocation->second.begin);
  if (begin + bytes >= allocation->second.bytes) return;  // to its end, or of other memory
  allocation->second.written = {begin, begin + bytes, call, CallSite::here()};
}

std::string with_history(const std::string& message) {
  static const std::regex& named =
      *new std::regex("allocation ([0-9]+) of [0-9]+ bytes(?: \\+ ([0-9]+))?");
  std::smatch match;
  if (!std::regex_search(message, match, named)) return message;
  const std::uint64_t number = std::stoull(match[1]);
  std::optional<Allocated> found;
  {
    const std::lock_guard lock(history().mutex);
    const auto allocation = history().by_number.find(number);
    if (allocation != history().by_number.end()) found = allocation->second;
  }
  if (!found) return message;
  std::string text = message + origin(number, *found);
  if (message.find("nothing has been written there") != message.npos) {
    text += short_copy(*found, match[2].matched ? std::stoull(match[2]) : 0);
  }
  return text;
}

}  // namespace rung::emu
