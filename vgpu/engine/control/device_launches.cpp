#include "vgpu/engine/control/device_launches.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "vgpu/engine/control/external_arguments.hpp"

namespace rung::vgpu {
namespace {

/// The queues of all contexts, by their memory: it is all that a kernel knows of its context.
struct Queues {
  std::mutex mutex;
  std::map<std::pair<const DeviceMemory*, std::uint64_t>, DeviceLaunch> prepared;  // by buffer
  std::map<const DeviceMemory*, std::vector<DeviceLaunch>> asked;
};

Queues& queues() {
  static Queues all;
  return all;
}

// Values of cudaError_t.
constexpr std::int32_t success = 0, invalid_value = 1;

}  // namespace

std::vector<DeviceLaunch> take_device_launches(const DeviceMemory& memory) {
  Queues& all = queues();
  const std::lock_guard lock(all.mutex);
  const auto found = all.asked.find(&memory);
  if (found == all.asked.end()) return {};
  std::vector<DeviceLaunch> launches = std::move(found->second);
  all.asked.erase(found);
  std::stable_sort(launches.begin(), launches.end(),
                   [](const auto& a, const auto& b) { return a.parent_block < b.parent_block; });
  return launches;
}

void run_get_parameter_buffer(Warp& warp, const Instr& instr) {
  DeviceMemory& memory = warp.block->worker.launch.memory;
  for_lanes(warp, [&](int lane) {
    DeviceLaunch launch;
    launch.kernel = argument<std::uint64_t>(warp, instr, lane, 0);
    launch.grid = argument<Dim3>(warp, instr, lane, 1);
    launch.block = argument<Dim3>(warp, instr, lane, 2);
    launch.dynamic_shared = argument<std::uint32_t>(warp, instr, lane, 3);
    launch.parent_block = warp.block->linear;
    try {
      launch.parameters = memory.allocate(launch_buffer_bytes, "launch parameters");
      Queues& all = queues();
      const std::lock_guard lock(all.mutex);
      all.prepared[{&memory, launch.parameters}] = launch;
    } catch (const std::bad_alloc&) {
      // As on a GPU, the kernel receives a null pointer.
    }
    set_result(warp, instr, lane, launch.parameters);
  });
}

void run_launch_device(Warp& warp, const Instr& instr) {
  const DeviceMemory* const memory = &warp.block->worker.launch.memory;
  Queues& all = queues();
  for_lanes(warp, [&](int lane) {
    const std::lock_guard lock(all.mutex);
    const auto found = all.prepared.find({memory, argument<std::uint64_t>(warp, instr, lane, 0)});
    if (found == all.prepared.end()) return set_result(warp, instr, lane, invalid_value);
    found->second.stream = argument<std::uint64_t>(warp, instr, lane, 1);
    all.asked[memory].push_back(found->second);
    all.prepared.erase(found);
    set_result(warp, instr, lane, success);
  });
}

}  // namespace rung::vgpu
