#pragma once
// Launches a selected rung into the caller's stream.

#include <memory>
#include <mutex>

#include "core/call.hpp"
#include "core/grouped.hpp"
#include "device/cuda/entry/launch.hpp"
#include "library/cuda/context_cache.hpp"
#include "library/cuda/select.hpp"
#include "library/select.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// A workspace of the library's that one call at a time enqueues work on; or the caller's, which is
/// not shared by threads.
struct WorkspaceUse {
  DevicePointer data = 0;
  std::shared_ptr<Workspace> owner = nullptr;
  std::unique_lock<std::mutex> enqueuing = {};
};

/// Device memory for partial sums and copies of operands: the caller's, or the library's for the
/// stream.
struct WorkspaceSource {
  ContextCache& context;
  Stream stream;
  void* given;  // null: use the library's
  std::size_t given_bytes;

  std::int64_t bytes() const;
  /// More than bytes() if the library may allocate from its pool.
  std::int64_t bytes_for_copies() const;
  /// Throws rung::Error and std::bad_alloc.
  WorkspaceUse use() const;
};

/// Whether the launch, or the copies that it needs, use the workspace.
bool uses(const WorkspaceSource& workspace, const Launch& launch);

/// Room for the copies that a launch needs of its operands, behind its partial sums in the
/// workspace where they fit there, and until its work in the stream is done.
class CopyRoom {
 public:
  /// `use`: of the workspace, if the copies fit there. Throws rung::Error and std::bad_alloc.
  CopyRoom(const WorkspaceSource& workspace, const WorkspaceUse& use, const Launch& launch);
  CopyRoom(const CopyRoom&) = delete;
  CopyRoom& operator=(const CopyRoom&) = delete;
  ~CopyRoom();

  void* data() const { return reinterpret_cast<void*>(data_); }

 private:
  const WorkspaceSource& workspace_;
  DevicePointer data_ = 0;
  bool allocated_ = false;
};

/// Whether there is room for the launch's partial sums and packed operands.
bool fits(const WorkspaceSource& workspace, const Launch& launch);

/// The limits of the device, with at most `multiprocessors` SMs; 0 means all.
Limits limits_of_call(const WorkspaceSource& workspace, int multiprocessors);

/// Enqueues a launch. `parameters` are those of cuLaunchKernel. Throws rung::Error and
/// std::bad_alloc.
void start(ContextCache& context, Stream stream, const KernelName& kernel, const Launch& launch,
           void** parameters);

/// The choice's launch on that many SMs, after lowering its splits until their sums and the packed
/// operands fit the workspace.
Launch fitting_launch(const WorkspaceSource& workspace, CudaGemmChoice& choice,
                      const GemmCall& problem, int multiprocessors, const Groups& groups = {});

/// Computes a problem whose pointers are device pointers, by fitting_launch(). C must not be empty.
/// Throws as start().
void launch_gemm(const WorkspaceSource& workspace, CudaGemmChoice choice, const GemmCall& problem,
                 int multiprocessors, const Groups& groups = {});

}  // namespace rung::cuda
