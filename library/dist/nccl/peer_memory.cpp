#include "library/dist/nccl/peer_memory.hpp"

#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

namespace rung::nccl {
namespace {

constexpr auto peer_access_already_enabled = static_cast<cuda::Result>(704);

/// The description of its memory that a rank publishes.
struct Offer {
  std::array<char, 64> host = {};
  std::int64_t process = 0;
  cuda::DevicePointer pointer = 0;
  cuda::Context context = nullptr;  // valid only within the process
  IpcHandle handle = {};
  int has_handle = 0;
};

/// The kernel's id of the current boot, which is unique to the host.
std::array<char, 64> host_id() {
  std::array<char, 64> id = {};
  std::ifstream("/proc/sys/kernel/random/boot_id").read(id.data(), id.size() - 1);
  return id;
}

}  // namespace

std::unique_ptr<PeerMemory> PeerMemory::make(Session& session, std::int64_t bytes) {
  std::unique_ptr<PeerMemory> memory(new PeerMemory(session));
  memory->allocate(bytes);
  const bool is_mapped = memory->map_all();
  for (const int all : session.all_gather<int>(is_mapped ? 1 : 0)) {
    if (all == 0) return nullptr;
  }
  return memory;
}

void PeerMemory::allocate(std::int64_t bytes) {
  mapped_.assign(static_cast<std::size_t>(session_.ranks()), 0);
  is_ipc_.assign(mapped_.size(), false);
  const cuda::DriverApi& driver = session_.driver();
  cuda::DevicePointer memory = 0;
  require(driver, driver.cuMemAlloc(&memory, static_cast<std::size_t>(bytes)), "cuMemAlloc");
  mapped_[static_cast<std::size_t>(session_.rank())] = memory;
  require(driver,
          driver.cuMemsetD8Async(memory, 0, static_cast<std::size_t>(bytes), session_.side()),
          "cuMemsetD8Async");
}

bool PeerMemory::map_all() {
  const cuda::DriverApi& driver = session_.driver();
  const PeerApi& peers = session_.peers();
  Offer mine = {.host = host_id(), .process = getpid(), .pointer = own()};
  require(driver, driver.cuCtxGetCurrent(&mine.context), "cuCtxGetCurrent");
  mine.has_handle = peers.cuIpcGetMemHandle(&mine.handle, own()) == cuda::Result::success ? 1 : 0;
  const std::vector<Offer> offers = session_.all_gather(mine);
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    const Offer& theirs = offers[rank];
    if (static_cast<int>(rank) == session_.rank()) continue;
    if (theirs.host != mine.host) return false;
    if (theirs.process == mine.process) {
      const cuda::Result enabled = theirs.context == mine.context
                                       ? cuda::Result::success
                                       : peers.cuCtxEnablePeerAccess(theirs.context, 0);
      if (enabled != cuda::Result::success && enabled != peer_access_already_enabled) return false;
      mapped_[rank] = theirs.pointer;
      continue;
    }
    if (theirs.has_handle == 0 ||
        peers.cuIpcOpenMemHandle(&mapped_[rank], theirs.handle, ipc_lazy_peer_access) !=
            cuda::Result::success) {
      return false;
    }
    is_ipc_[rank] = true;
  }
  return true;
}

PeerMemory::~PeerMemory() {
  if (!session_.is_alive()) return;  // other ranks may still write to it
  for (std::size_t rank = 0; rank < mapped_.size(); ++rank) {
    if (is_ipc_[rank]) session_.peers().cuIpcCloseMemHandle(mapped_[rank]);
  }
  try {
    session_.all_gather(0);  // wait until no rank maps the memory any more
  } catch (const std::exception&) {
    return;
  }
  session_.driver().cuMemFree(own());
}

}  // namespace rung::nccl
