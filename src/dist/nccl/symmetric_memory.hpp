#pragma once
// Memory that is registered with NCCL on all ranks as a symmetric window (NCCL 2.27 and later), which its
// all-gathers of few bytes are faster in: NCCL User Guide, "Window Registration".

#include <cstdint>
#include <memory>

#include "dist/nccl/session.hpp"

namespace rung::nccl {

class SymmetricMemory {
 public:
  /// `bytes` on each rank. Null on every rank if NCCL has no windows, or a rank gets none. Collective.
  static std::unique_ptr<SymmetricMemory> make(Session& session, std::int64_t bytes);

  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  /// Collective, once no rank uses it any more.
  ~SymmetricMemory();

  cuda::DevicePointer data() const { return reinterpret_cast<cuda::DevicePointer>(data_); }
  std::int64_t bytes() const { return bytes_; }

 private:
  SymmetricMemory(Session& session, std::int64_t bytes) : session_(session), bytes_(bytes) {}
  bool allocate();

  Session& session_;
  std::int64_t bytes_;
  void* data_ = nullptr;
  Window window_ = nullptr;
};

}  // namespace rung::nccl
