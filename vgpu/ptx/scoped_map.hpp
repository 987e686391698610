#pragma once
// A map of names in nested scopes: an inner declaration hides an outer one until its scope ends.

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rung::vgpu::ptx {

/// Names must outlive the map. The time of an operation does not depend on the number of open
/// scopes, except for a find() that skips inner entries.
template <class T>
class ScopedMap {
 public:
  struct Entry {
    std::size_t depth;
    T value;
  };

  std::size_t depth() const { return scopes_.size(); }
  void open() { scopes_.emplace_back(); }

  void close() {
    for (const std::string_view name : scopes_.back()) {
      const auto found = entries_.find(name);
      found->second.pop_back();
      if (found->second.empty()) entries_.erase(found);
    }
    scopes_.pop_back();
  }

  /// Declares `name` in the innermost scope. Returns false if that scope already contains it.
  bool declare(std::string_view name, T value) {
    std::vector<Entry>& entries = entries_[name];
    if (!entries.empty() && entries.back().depth == depth()) return false;
    entries.push_back({depth(), std::move(value)});
    scopes_.back().push_back(name);
    return true;
  }

  /// The innermost entry with that name whose value satisfies `fits`, or null.
  template <class Fits>
  Entry* find(std::string_view name, Fits fits) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return nullptr;
    for (auto entry = found->second.rbegin(); entry != found->second.rend(); ++entry) {
      if (fits(entry->value)) return &*entry;
    }
    return nullptr;
  }
  Entry* find(std::string_view name) {
    return find(name, [](const T&) { return true; });
  }

 private:
  std::unordered_map<std::string_view, std::vector<Entry>> entries_;
  std::vector<std::vector<std::string_view>> scopes_;
};

}  // namespace rung::vgpu::ptx
