#pragma once
// Memory that is registered with NCCL on all ranks as a symmetric window (NCCL 2.27 and later),
// which speeds up small all-gathers: NCCL User Guide, "Window Registration".

#include <cstdint>
#include <memory>

#include "library/dist/nccl/session.hpp"

namespace rung::nccl {

class SymmetricMemory {
 public:
  /// Allocates `bytes` on each rank. Null on every rank if NCCL has no windows or an allocation
  /// fails. Collective.
  static std::unique_ptr<SymmetricMemory> make(Session& session, std::int64_t bytes);

  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  /// Collective. No rank may use the memory any more.
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
