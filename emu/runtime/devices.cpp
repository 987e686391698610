#include "emu/runtime/devices.hpp"

#include <exception>
#include <mutex>
#include <set>
#include <utility>

#include "cuda_runtime_api.h"
#include "emu/runtime/options.hpp"
#include "emu/runtime/runtime.hpp"
#include "emu/runtime/variables.hpp"

namespace rung::emu {
namespace {

thread_local int current = 0;

std::mutex peers_mutex;
std::set<std::pair<int, int>> peers;  // (device, peer): the device may access the peer's memory

}  // namespace

int device_count() {
  static const int count = [] {
    try {
      return static_cast<int>(integer_variable(devices_variable, 1, max_devices).value_or(1));
    } catch (const std::exception& error) {
      refuse_variable(error);
    }
  }();
  return count;
}

int current_device() { return current; }

void forget_peers() {
  const std::lock_guard lock(peers_mutex);
  peers.clear();
}

}  // namespace rung::emu

using namespace rung::emu;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return finish(cudaErrorInvalidValue);
  *count = device_count();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return finish(cudaErrorInvalidValue);
  *device = current;
  return finish(Runtime::get().enter());
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  current = device;
  return finish(Runtime::get().enter());
}

cudaError_t cudaInitDevice(int device, unsigned int /*device_flags*/, unsigned int /*flags*/) {
  return is_device(device) ? finish(Runtime::get().enter()) : finish(cudaErrorInvalidDevice);
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (devices == nullptr && count != 0) return finish(cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i) {
    if (!is_device(devices[i])) return finish(cudaErrorInvalidDevice);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  if (can_access == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_device(device) || !is_device(peer)) return finish(cudaErrorInvalidDevice);
  *can_access = device != peer ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  if (!is_device(peer) || peer == current) return finish(cudaErrorInvalidDevice);
  if (flags != 0) return finish(cudaErrorInvalidValue);
  const std::lock_guard lock(peers_mutex);
  const bool is_new = peers.emplace(current, peer).second;
  return finish(is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (!is_device(peer)) return finish(cudaErrorInvalidDevice);
  const std::lock_guard lock(peers_mutex);
  const bool was_enabled = peers.erase({current, peer}) == 1;
  return finish(was_enabled ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  // A device is not its own peer.
  if (!is_device(device) || !is_device(peer) || device == peer) {
    return finish(cudaErrorInvalidDevice);
  }
  *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
  return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  if (!is_device(to_device) || !is_device(from_device)) return finish(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
  if (!is_device(to_device) || !is_device(from_device)) return finish(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

}  // extern "C"
