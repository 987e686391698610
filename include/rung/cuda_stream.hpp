#pragma once
// A stream of an NVIDIA GPU, and the options of calls in it: see rung/cuda.hpp.

#include <cstddef>

#include "rung/options.hpp"

namespace rung {

/// A stream: a cudaStream_t or CUstream. Null is the (legacy) default stream.
class CudaStream {
 public:
  // Explicit, and not constructible from {}, so that a call states that it runs on the GPU.
  explicit CudaStream(void* handle) : handle_(handle) {}

  void* handle() const { return handle_; }

 private:
  void* handle_;
};

struct CudaOptions {
  /// Device memory for partial sums and aligned copies of operands, aligned to 256 bytes, zero
  /// before its first use and then left to the library's calls. Calls of one thread at a time, on
  /// one stream at a time, may use it, and a graph that uses it must not run beside them. It may
  /// have any number of bytes, and is all that the call uses. Null: the library keeps 32 MiB for
  /// each stream and for each graph that is captured, allocated at the first call that needs them,
  /// and takes what larger copies need from a pool of its own, in the order of the stream.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  /// The maximum number of streaming multiprocessors (SMs) that persistent kernels (tensor-core
  /// kernels on sm_90) occupy. Tile and split-K are chosen for this number. Other kernels launch
  /// one block for each tile of C and ignore it. 0 (default): all SMs of the device.
  int multiprocessors = 0;
  ComputeMode compute_mode = ComputeMode::standard;
};

}  // namespace rung
