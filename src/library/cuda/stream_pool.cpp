#include "library/cuda/stream_pool.hpp"

#include "library/cuda/driver.hpp"

namespace rung::cuda {

MemoryPool StreamPool::pool(const DriverApi& api) {
  const std::lock_guard lock(mutex_);
  if (pool_ != nullptr) return pool_;
  const MemoryPoolProperties properties = {.device = device_};
  MemoryPool created = nullptr;
  require(api, api.cuMemPoolCreate(&created, &properties), "cuMemPoolCreate");
  std::uint64_t everything = ~std::uint64_t{0};
  require(api,
          api.cuMemPoolSetAttribute(created, MemoryPoolAttribute::release_threshold, &everything),
          "cuMemPoolSetAttribute");
  return pool_ = created;
}

DevicePointer StreamPool::allocate(const DriverApi& api, std::int64_t bytes, Stream stream) {
  DevicePointer pointer = 0;
  require(api,
          api.cuMemAllocFromPoolAsync(&pointer, static_cast<std::size_t>(bytes), pool(api), stream),
          "cuMemAllocFromPoolAsync");
  return pointer;
}

void StreamPool::trim(const DriverApi& api) {
  const std::lock_guard lock(mutex_);
  if (pool_ != nullptr) require(api, api.cuMemPoolTrimTo(pool_, 0), "cuMemPoolTrimTo");
}

}  // namespace rung::cuda
