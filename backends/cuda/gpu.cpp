#include "backends/cuda/gpu.hpp"

#include "backends/cuda/start.hpp"
#include "core/cuda_driver/error.hpp"
#include "core/kernel_error.hpp"

namespace rung::cuda {

namespace {

[[noreturn]] void throw_no_image(std::string_view id, const Target& target) {
  throw DriverError(
      std::string("no code for ").append(id).append(" on sm_").append(std::to_string(target.arch)));
}

}  // namespace

Gpu::Gpu(const DriverApi& api, std::optional<Code> wanted, int ordinal)
    : api_(api), kernels_(api, target_, {check, throw_no_image}) {
  check(api_, api_.cuDeviceGet(&device_, ordinal), "cuDeviceGet");
  char name[256] = "";
  check(api_, api_.cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName");
  name_ = name;
  target_.arch = 10 * attribute(DeviceAttribute::compute_capability_major) +
                 attribute(DeviceAttribute::compute_capability_minor);
  limits_.shared_bytes = attribute(DeviceAttribute::max_shared_memory_per_block_optin);
  limits_.multiprocessors = attribute(DeviceAttribute::multiprocessor_count);
  target_.wanted = wanted;
  check(api_, api_.cuDriverGetVersion(&target_.driver_version), "cuDriverGetVersion");
  open();
}

Gpu::~Gpu() {
  if (api_.cuCtxSetCurrent(context_) == Result::success) {
    for (const auto& [unit, module] : modules_) api_.cuModuleUnload(module);
    kernels_.unload();
    api_.cuStreamDestroy(stream_);
  }
  api_.cuDevicePrimaryCtxRelease(device_);
}

int Gpu::attribute(DeviceAttribute attribute) const {
  int value = 0;
  check(api_, api_.cuDeviceGetAttribute(&value, attribute, device_), "cuDeviceGetAttribute");
  return value;
}

void Gpu::open() {
  check(api_, api_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  check(api_, api_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
  // A blocking stream: launches wait for the preceding copies, which use the default stream.
  check(api_, api_.cuStreamCreate(&stream_, 0), "cuStreamCreate");
}

Stream Gpu::stream() {
  const std::lock_guard lock(mutex_);
  return stream_;
}

std::int64_t Gpu::memory_bytes() const {
  std::size_t bytes = 0;
  check(api_, api_.cuDeviceTotalMem(&bytes, device_), "cuDeviceTotalMem");
  return static_cast<std::int64_t>(bytes);
}

std::string Gpu::pci_bus_id() const {
  char id[32] = "";
  check(api_, api_.cuDeviceGetPCIBusId(id, sizeof id, device_), "cuDeviceGetPCIBusId");
  return id;
}

void Gpu::make_current() {
  const std::lock_guard lock(mutex_);
  check(api_, api_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

Function Gpu::function(const Unit& unit, const std::string& entry) {
  const std::lock_guard lock(mutex_);
  auto found = modules_.find(&unit);
  if (found == modules_.end()) {
    Module module = nullptr;
    check(api_, api_.cuModuleLoadData(&module, unpack(unit).c_str()), "cuModuleLoadData");
    found = modules_.emplace(&unit, module).first;
  }
  Function function = nullptr;
  check(api_, api_.cuModuleGetFunction(&function, found->second, entry.c_str()),
        "cuModuleGetFunction");
  return function;
}

Function Gpu::load(const KernelName& kernel, std::int64_t shared_bytes) {
  const Function loaded = kernels_.find(kernel, shared_bytes);
  return loaded != nullptr ? loaded : kernels_.load(kernel, shared_bytes);
}

Result Gpu::start(Function function, const Launch& launch, void** arguments, int /*threads*/) {
  return cuda::start(api_, function, launch, stream(), arguments);
}

void Gpu::launch(Function function, const std::string& entry, const Launch& launch,
                 void** arguments, int threads) {
  const Result result = start(function, launch, arguments, threads);
  if (result != Result::success) fail(entry, result);
}

void Gpu::launch(const KernelName& kernel, const Launch& launch, void** arguments, int threads) {
  const Result result = start(load(kernel, launch.shared_bytes), launch, arguments, threads);
  if (result != Result::success) fail(kernel.text(), result);
}

void Gpu::wait(const std::string& entry) {
  const Result result = api_.cuStreamSynchronize(stream());
  if (result != Result::success) fail(entry, result);
}

void Gpu::fail(const std::string& entry, Result result) {
  reset();
  throw KernelError(entry + ": " + describe(api_, result));
}

void Gpu::reset() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  modules_.clear();
  kernels_.forget();
  api_.cuDevicePrimaryCtxRelease(device_);
  check(api_, api_.cuDevicePrimaryCtxReset(device_), "cuDevicePrimaryCtxReset");
  open();
}

int Gpu::generation() {
  const std::lock_guard lock(mutex_);
  return generation_;
}

}  // namespace rung::cuda
