#pragma once
// Launches a selected rung in the caller's stream.

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/block_scales.hpp"
#include "core/call.hpp"
#include "core/grouped.hpp"
#include "device/cuda/entry/launch.hpp"
#include "library/cuda/context_cache.hpp"
#include "rung/cuda.hpp"
#include "rung/cuda_stream.hpp"
#include "select/cuda/select.hpp"

namespace rung::cuda {

/// A workspace in use: the library's, locked so that one call at a time enqueues work on it, or the
/// caller's, which threads do not share.
struct WorkspaceUse {
  DevicePointer data = 0;
  std::shared_ptr<Workspace> owner = nullptr;
  std::unique_lock<std::mutex> enqueuing = {};
};

/// Device memory for partial sums and packed operands: the caller's, or the library's for the
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

/// True if the launch, or the copies that it needs, use the workspace.
bool uses(const WorkspaceSource& workspace, const Launch& launch);

/// Memory for the packed operands of a launch: after its partial sums in the workspace if they fit
/// there, otherwise from the pool until the launch's work in the stream is done.
class CopyRoom {
 public:
  /// `use`: the workspace, if the copies fit there. Throws rung::Error and std::bad_alloc.
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

/// Throws rung::Error (Status::invalid_argument) if the launch of kernel `id` needs more than the
/// caller's workspace, which is all that its call may use.
void require_room(const WorkspaceSource& workspace, const Launch& launch, std::string_view id);

/// Throws rung::Error (Status::invalid_argument) for device memory that is not aligned to its
/// element size: a misaligned access would destroy the context.
void require_aligned(const char* op, const void* data, std::size_t element_bytes);
/// Checks A, B and C, or their arrays of pointers.
void require_aligned(const char* op, const GemmCall& call);

/// True if there is memory for the launch's partial sums and packed operands.
bool fits(const WorkspaceSource& workspace, const Launch& launch);

/// The limits of the device, with at most `multiprocessors` SMs; 0 means all.
Limits limits_of_call(const WorkspaceSource& workspace, int multiprocessors);

/// Enqueues a launch. `parameters` are those of cuLaunchKernel. Throws rung::Error and
/// std::bad_alloc.
void start(ContextCache& context, Stream stream, const KernelName& kernel, const Launch& launch,
           void** parameters);

/// The launches of one call, in order. All other operations that the driver may fail (loading a
/// kernel, allocating memory, encoding a tensor map) precede the first launch, so that a call that
/// throws there has not changed C.
class LaunchSequence {
 public:
  explicit LaunchSequence(const WorkspaceSource& workspace) : workspace_(workspace) {}

  const WorkspaceSource& workspace() const { return workspace_; }

  /// Prepares a product and the copies that its launch needs. Products share memory for partial
  /// sums and copies, because they run one after another in the stream. `scales` are for rungs that
  /// take them. Throws rung::Error and std::bad_alloc, here and below.
  void add(const CudaGemmChoice& choice, const GemmCall& problem, const Launch& launch,
           int multiprocessors, const Groups& groups = {}, const BlockScales* scales = nullptr);
  /// Prepares a kernel with its only parameter, which has `bytes` bytes.
  void add(const KernelName& kernel, const Launch& launch, const void* parameter,
           std::size_t bytes);

  /// Enqueues all launches.
  void enqueue();

 private:
  struct Ready {
    Function function;
    std::string_view id;
    Launch launch;
    std::size_t parameter;  // offset in parameters_
  };

  void* room_for(const Launch& launch);

  WorkspaceSource workspace_;
  WorkspaceUse use_ = {};
  std::vector<std::unique_ptr<CopyRoom>> rooms_ = {};  // in ascending size
  std::int64_t room_bytes_ = 0;                        // size of the last one
  std::vector<Ready> launches_ = {};
  std::vector<std::byte> parameters_ = {};
};

/// The kernel and its configuration in the problem's mode. `chosen` is from choose_cuda_gemm() and has the type.
/// In mode batch_invariant, summed_parts may replace a rung 31 whose k is cut.
CudaGemmChoice config_in_mode(const WorkspaceSource& workspace, const CudaGemmChoice& chosen,
                              const GemmCall& problem, const Limits& limits);

/// The choice's launch on `multiprocessors` SMs, after reducing its splits until partial sums and
/// packed operands fit in the workspace.
Launch fitting_launch(const WorkspaceSource& workspace, CudaGemmChoice& choice,
                      const GemmCall& problem, int multiprocessors, const Groups& groups = {});

/// Adds a problem with device pointers, using fitting_launch(). C must not be empty.
void add_gemm(LaunchSequence& sequence, CudaGemmChoice choice, const GemmCall& problem,
              int multiprocessors, const Groups& groups = {});

/// Launches a single problem. Packed operands are in the pool if the workspace is too small. Throws
/// like start().
void launch_gemm(const WorkspaceSource& workspace, CudaGemmChoice choice, const GemmCall& problem,
                 int multiprocessors, const Groups& groups = {});

}  // namespace rung::cuda
