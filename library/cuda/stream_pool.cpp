#include "library/cuda/stream_pool.hpp"

#include <map>
#include <utility>

#include "library/cuda/capture.hpp"
#include "library/cuda/driver.hpp"

namespace rung::cuda {

MemoryPool StreamPool::pool(const DriverApi& api) {
  const std::lock_guard lock(mutex_);
  if (pool_ != nullptr) return pool_;
  const AllowedDuringCapture allowed(api);
  const MemoryPoolProperties properties = {.device = device_};
  MemoryPool created = nullptr;
  require(api, api.cuMemPoolCreate(&created, &properties), "cuMemPoolCreate");
  std::uint64_t everything = ~std::uint64_t{0};
  const Result set =
      api.cuMemPoolSetAttribute(created, MemoryPoolAttribute::release_threshold, &everything);
  if (set != Result::success) api.cuMemPoolDestroy(created);
  require(api, set, "cuMemPoolSetAttribute");
  return pool_ = created;
}

StreamPool& StreamPool::of(const DriverApi& api, Device device) {
  // Never destroyed: the driver may have shut down when statics are destroyed.
  static auto* const mutex = new std::mutex;
  static auto* const pools = new std::map<std::pair<const DriverApi*, Device>, StreamPool>;
  const std::lock_guard lock(*mutex);
  return pools->try_emplace({&api, device}, device).first->second;
}

DevicePointer StreamPool::allocate(const DriverApi& api, std::int64_t bytes, Stream stream) {
  const MemoryPool own = pool(api);
  const AllowedDuringCapture allowed(api);
  DevicePointer pointer = 0;
  require(api, api.cuMemAllocFromPoolAsync(&pointer, static_cast<std::size_t>(bytes), own, stream),
          "cuMemAllocFromPoolAsync");
  return pointer;
}

void StreamPool::free(const DriverApi& api, DevicePointer pointer, Stream stream) {
  const AllowedDuringCapture allowed(api);
  // Errors that the driver reports here have occurred before, or will be reported by the next call.
  api.cuMemFreeAsync(pointer, stream);
}

void StreamPool::trim(const DriverApi& api) {
  const std::lock_guard lock(mutex_);
  const AllowedDuringCapture allowed(api);
  if (pool_ != nullptr) require(api, api.cuMemPoolTrimTo(pool_, 0), "cuMemPoolTrimTo");
}

}  // namespace rung::cuda
