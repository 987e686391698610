#pragma once
// What the library calls: NCCL and the driver, and errors made of their results.

#include "cuda_driver/api.hpp"
#include "dist/nccl/api.hpp"
#include "dist/nccl/peer_api.hpp"

namespace rung::nccl {

struct Backend {
  const cuda::DriverApi* driver;
  const PeerApi* peers;
  const Api* nccl;
  /// Whether a kernel may wait for what other streams do while it runs. Not on the virtual GPU, whose work
  /// runs in the call that enqueues it.
  bool streams_run_at_once = true;
};

/// NVIDIA's, or what use_backend() set. Throws Error (Status::unavailable).
Backend backend();

/// Replaces both, for tests; null restores NVIDIA's.
void use_backend(const Backend* other);

/// Throws Error (Status::device_error), "rung: WHAT: CUDA_ERROR_…", unless the result is success, and
/// std::bad_alloc if GPU memory is exhausted.
void require(const cuda::DriverApi& api, cuda::Result result, const char* what);
/// Throws dist::CommunicationError with NCCL's text.
void require(const Api& api, Result result, const char* what);

}  // namespace rung::nccl
