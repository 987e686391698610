#pragma once
// Memory that every rank maps from every other rank: by pointer within a process, by CUDA IPC
// between processes of one host.

#include <cstdint>
#include <memory>
#include <vector>

#include "library/dist/nccl/session.hpp"

namespace rung::nccl {

class PeerMemory {
 public:
  /// Allocates `bytes` on each rank, initially zero. Null on every rank if one cannot map another's
  /// memory. Collective.
  static std::unique_ptr<PeerMemory> make(Session& session, std::int64_t bytes);

  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  /// Collective. No rank may use the memory any more.
  ~PeerMemory();

  cuda::DevicePointer of(int rank) const { return mapped_.at(static_cast<std::size_t>(rank)); }
  cuda::DevicePointer own() const { return of(session_.rank()); }

 private:
  explicit PeerMemory(Session& session) : session_(session) {}
  void allocate(std::int64_t bytes);
  bool map_all();

  Session& session_;
  std::vector<cuda::DevicePointer> mapped_;  // by rank; 0: not mapped
  std::vector<bool> is_ipc_;
};

}  // namespace rung::nccl
