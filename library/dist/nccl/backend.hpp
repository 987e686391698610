#pragma once
// The APIs that the library calls, NCCL and the driver, and conversion of their results to errors.

#include "core/cuda_driver/api.hpp"
#include "library/dist/nccl/api.hpp"
#include "library/dist/nccl/peer_api.hpp"

namespace rung::nccl {

struct Backend {
  const cuda::DriverApi* driver;
  const PeerApi* peers;
  const Api* nccl;
  /// True if a kernel may wait for work in other streams while it runs. False on the virtual GPU,
  /// which runs work in the call that enqueues it.
  bool streams_run_at_once = true;
};

/// NVIDIA's libraries, or those set by use_backend(). Throws Error (Status::unavailable).
Backend backend();

/// Replaces both libraries, for tests; null restores NVIDIA's.
void use_backend(const Backend* other);

/// Throws Error (Status::device_error), "rung: WHAT: CUDA_ERROR_…", unless the result is success,
/// and std::bad_alloc if GPU memory is exhausted.
void require(const cuda::DriverApi& api, cuda::Result result, const char* what);
/// Throws dist::CommunicationError with NCCL's error text.
void require(const Api& api, Result result, const char* what);

}  // namespace rung::nccl
