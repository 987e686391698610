#pragma once
// Device memory for a result that a call returns.

#include <cstddef>
#include <memory>

#include "library/cuda/launch.hpp"

namespace rung::cuda {

/// Located after the library's workspace of the stream, one slot per active call, so that threads
/// that share a stream do not read each other's results. In the caller's workspace, its last bytes.
class ResultSlot {
 public:
  /// Throws rung::Error and std::bad_alloc.
  explicit ResultSlot(const WorkspaceSource& workspace);
  ResultSlot(const ResultSlot&) = delete;
  ResultSlot& operator=(const ResultSlot&) = delete;
  ~ResultSlot();

  DevicePointer address() const { return address_; }
  /// Call after enqueuing work that writes the slot.
  void fill() { is_in_flight_ = true; }
  /// Waits for that work and copies the result. Throws rung::Error.
  void read(void* result, std::size_t bytes);

 private:
  const WorkspaceSource& workspace_;
  std::shared_ptr<Workspace> owner_;
  int slot_ = 0;
  DevicePointer address_ = 0;
  bool is_in_flight_ = false;
};

}  // namespace rung::cuda
