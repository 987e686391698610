#pragma once
// Driver handles: numbers that are never reused, so that stale handles are detected.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace rung::vgpu::driver {

/// Returns an unused handle, above those with a fixed meaning (the default streams).
inline std::uintptr_t next_handle() {
  static std::uintptr_t last = 0x1000;
  return last += 0x10;
}

/// Maps the handles of one type to their objects. A captured operation may keep an object alive
/// after its handle is destroyed.
template <class Handle, class State>
class Handles {
 public:
  Handle add(std::shared_ptr<State> state) {
    const auto handle = reinterpret_cast<Handle>(next_handle());
    states_.emplace(handle, std::move(state));
    return handle;
  }
  /// Assigns an unused handle to an object.
  void put(Handle handle, std::shared_ptr<State> state) { states_[handle] = std::move(state); }
  /// Returns null if no such object exists (any more).
  std::shared_ptr<State> find(Handle handle) const {
    const auto found = states_.find(handle);
    return found == states_.end() ? nullptr : found->second;
  }
  bool remove(Handle handle) { return states_.erase(handle) != 0; }

  auto begin() const { return states_.begin(); }
  auto end() const { return states_.end(); }

 private:
  std::map<Handle, std::shared_ptr<State>> states_;
};

}  // namespace rung::vgpu::driver
