#pragma once
// Memory of which every rank maps the part of every other rank: by pointer within a process, by CUDA
// IPC between processes of one host.

#include <cstdint>
#include <memory>
#include <vector>

#include "dist/nccl/session.hpp"

namespace rung::nccl {

class PeerMemory {
 public:
  /// `bytes` on each rank, zero at first. Null on every rank if one cannot map another's. Collective.
  static std::unique_ptr<PeerMemory> make(Session& session, std::int64_t bytes);

  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  /// Collective, once no rank uses it any more.
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
