#include "library/cuda/result_slot.hpp"

#include <bit>
#include <thread>

#include "library/cuda/capture.hpp"

namespace rung::cuda {
namespace {

/// Takes a free slot. If all are taken, waits for a call to release one.
int take(Workspace& workspace) {
  std::uint64_t taken = workspace.slots_in_use.load();
  while (true) {
    const int free = std::countr_one(taken);
    if (free == result_slots) {
      std::this_thread::yield();
      taken = workspace.slots_in_use.load();
    } else if (workspace.slots_in_use.compare_exchange_weak(taken, taken | 1ull << free)) {
      return free;
    }
  }
}

}  // namespace

ResultSlot::ResultSlot(const WorkspaceSource& workspace) : workspace_(workspace) {
  std::int64_t offset = workspace.bytes() / result_slot_bytes * result_slot_bytes;
  if (workspace.given != nullptr) {
    offset -= result_slot_bytes;
    address_ = reinterpret_cast<DevicePointer>(workspace.given);
  } else {
    owner_ = workspace.context.workspaces().get(workspace.context.api(), workspace.stream);
    slot_ = take(*owner_);
    offset += slot_ * result_slot_bytes;
    address_ = owner_->data;
  }
  address_ += static_cast<DevicePointer>(offset);
}

ResultSlot::~ResultSlot() {
  if (owner_ == nullptr) return;
  // A slot stays taken if pending work may still write it.
  const DriverApi& api = workspace_.context.api();
  const AllowedDuringCapture allowed(api);
  if (is_in_flight_ && api.cuStreamSynchronize(workspace_.stream) != Result::success) return;
  owner_->slots_in_use.fetch_and(~(1ull << slot_));
}

void ResultSlot::read(void* result, std::size_t bytes) {
  const DriverApi& api = workspace_.context.api();
  const AllowedDuringCapture allowed(api);
  require(api, api.cuMemcpyDtoHAsync(result, address_, bytes, workspace_.stream),
          "dot: cuMemcpyDtoHAsync");
  require(api, api.cuStreamSynchronize(workspace_.stream), "dot: cuStreamSynchronize");
  is_in_flight_ = false;
}

}  // namespace rung::cuda
