#include "library/dist/mpi/gpu_memory.hpp"

#include <atomic>
#include <new>

#include "core/cuda_driver/error.hpp"
#include "core/cuda_driver/real_driver.hpp"

namespace rung::dist {
namespace {

std::atomic<const cuda::DriverApi*> replaced = nullptr;

void require(const cuda::DriverApi& api, cuda::Result result, const char* what) {
  if (result == cuda::Result::success) return;
  if (result == cuda::Result::out_of_memory) throw std::bad_alloc();
  throw Error(Status::device_error,
              std::string("rung: ").append(what).append(": ").append(cuda::describe(api, result)));
}

}  // namespace

const cuda::DriverApi& gpu_driver() {
  if (const cuda::DriverApi* const other = replaced.load()) return *other;
  const cuda::RealDriver driver = cuda::real_driver();
  if (driver.api == nullptr) throw Error(Status::unavailable, "rung: " + driver.why_not);
  return *driver.api;
}

void use_gpu_driver(const cuda::DriverApi* other) { replaced = other; }

GpuMemory::GpuMemory(Transfers& transfers, CudaStream stream)
    : transfers_(transfers),
      driver_(gpu_driver()),
      stream_(static_cast<cuda::Stream>(stream.handle())) {
  for (cuda::Stream* const copies : {&in_, &out_}) {
    require(driver_, driver_.cuStreamCreate(copies, cuda::stream_non_blocking), "cuStreamCreate");
    order(stream_, *copies);
  }
}

GpuMemory::~GpuMemory() {
  for (const cuda::Stream stream : {stream_, in_, out_}) driver_.cuStreamSynchronize(stream);
  for (const cuda::DevicePointer memory : memory_) driver_.cuMemFree(memory);
  for (void* const memory : pinned_) driver_.cuMemHostUnregister(memory);
  for (const Event event : events_) driver_.cuEventDestroy(event);
  for (const cuda::Stream stream : {in_, out_}) driver_.cuStreamDestroy(stream);
}

void GpuMemory::check() {
  const cuda::DriverApi& api = gpu_driver();
  require(api, api.cuInit(0), "cuInit");
  cuda::Context context = nullptr;
  require(api, api.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (context != nullptr) return;
  require(api, api.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  require(api, api.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

std::int64_t GpuMemory::available() {
  const cuda::DriverApi& api = gpu_driver();
  std::size_t left = 0, all = 0;
  require(api, api.cuMemGetInfo(&left, &all), "cuMemGetInfo");
  return static_cast<std::int64_t>(left / 2);
}

std::byte* GpuMemory::pinned(std::int64_t bytes) {
  std::byte* const memory = transfers_.allocate(bytes);
  const cuda::Result result =
      bytes == 0 ? cuda::Result::invalid_value
                 : driver_.cuMemHostRegister(memory, static_cast<std::size_t>(bytes), 0);
  if (result == cuda::Result::success) pinned_.push_back(memory);  // otherwise copies are slower
  return memory;
}

cuda::DevicePointer GpuMemory::device_memory(std::int64_t bytes) {
  cuda::DevicePointer memory = 0;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  require(driver_, driver_.cuMemAlloc(&memory, size), "cuMemAlloc");
  memory_.push_back(memory);
  return memory;
}

cuda::Event GpuMemory::new_event() {
  Event event = nullptr;
  require(driver_, driver_.cuEventCreate(&event, cuda::event_disable_timing), "cuEventCreate");
  events_.push_back(event);
  return event;
}

void GpuMemory::record(Event event, cuda::Stream stream) const {
  require(driver_, driver_.cuEventRecord(event, stream), "cuEventRecord");
}

void GpuMemory::order(cuda::Stream first, cuda::Stream second) {
  const Event event = new_event();
  record(event, first);
  require(driver_, driver_.cuStreamWaitEvent(second, event, 0), "cuStreamWaitEvent");
}

bool GpuMemory::is_done(Event event) const {
  const cuda::Result state = driver_.cuEventQuery(event);
  if (state == cuda::Result::not_ready) return false;
  require(driver_, state, "cuEventQuery");
  return true;
}

void GpuMemory::wait(Event event) const {
  require(driver_, driver_.cuEventSynchronize(event), "cuEventSynchronize");
}

cuda::Event GpuMemory::start_download(const Rectangle& copy) {
  if (copy.width > 0 && copy.lines > 0) {
    cuda::Memcpy2D rectangle = {};
    rectangle.source_type = cuda::MemoryType::device;
    rectangle.source_device = reinterpret_cast<cuda::DevicePointer>(copy.from);
    rectangle.source_pitch = copy.from_pitch;
    rectangle.destination_type = cuda::MemoryType::host;
    rectangle.destination_host = copy.to;
    rectangle.destination_pitch = copy.to_pitch;
    rectangle.width_bytes = copy.width;
    rectangle.height = copy.lines;
    require(driver_, driver_.cuMemcpy2DAsync(&rectangle, out_), "cuMemcpy2DAsync");
  }
  const Event copied = new_event();
  record(copied, out_);
  return copied;
}

void GpuMemory::upload(const Rectangle& copy) {
  if (copy.width == 0 || copy.lines == 0) return;
  cuda::Memcpy2D rectangle = {};
  rectangle.source_type = cuda::MemoryType::host;
  rectangle.source_host = copy.from;
  rectangle.source_pitch = copy.from_pitch;
  rectangle.destination_type = cuda::MemoryType::device;
  rectangle.destination_device = reinterpret_cast<cuda::DevicePointer>(copy.to);
  rectangle.destination_pitch = copy.to_pitch;
  rectangle.width_bytes = copy.width;
  rectangle.height = copy.lines;
  require(driver_, driver_.cuMemcpy2DAsync(&rectangle, in_), "cuMemcpy2DAsync");
  order(in_, stream_);
  order(in_, out_);
}

cuda::Event GpuMemory::upload_panel(std::int64_t panel, const void* from, void* to,
                                    std::int64_t bytes) {
  const Event before = multiplied_[static_cast<std::size_t>(panel % 2)];
  if (before != nullptr) {
    require(driver_, driver_.cuStreamWaitEvent(in_, before, 0), "cuStreamWaitEvent");
  }
  if (bytes > 0) {
    require(driver_,
            driver_.cuMemcpyHtoDAsync(reinterpret_cast<cuda::DevicePointer>(to), from,
                                      static_cast<std::size_t>(bytes), in_),
            "cuMemcpyHtoDAsync");
  }
  const Event uploaded = new_event();
  record(uploaded, in_);
  require(driver_, driver_.cuStreamWaitEvent(stream_, uploaded, 0), "cuStreamWaitEvent");
  return uploaded;
}

void GpuMemory::multiplied(std::int64_t panel) {
  Event& event = multiplied_[static_cast<std::size_t>(panel % 2)];
  event = new_event();
  record(event, stream_);
}

void GpuMemory::finish() {
  for (const cuda::Stream stream : {in_, stream_, out_}) {
    require(driver_, driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
}

}  // namespace rung::dist
