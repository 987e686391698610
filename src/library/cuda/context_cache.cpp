#include "library/cuda/context_cache.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "library/cuda/capture.hpp"
#include "rung/error.hpp"

namespace rung::cuda {
namespace {

int attribute(const DriverApi& api, DeviceAttribute which, Device device) {
  int value = 0;
  require(api, api.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

Device current_device(const DriverApi& api) {
  Device device = 0;
  require(api, api.cuCtxGetDevice(&device), "cuCtxGetDevice");
  return device;
}

Target target_of(const Driver& driver) {
  const DriverApi& api = *driver.api;
  const Device device = current_device(api);
  Target target{.arch = 10 * attribute(api, DeviceAttribute::compute_capability_major, device) +
                        attribute(api, DeviceAttribute::compute_capability_minor, device),
                .takes_cubin = driver.takes_cubin,
                .wanted = driver.wanted};
  require(api, api.cuDriverGetVersion(&target.driver_version), "cuDriverGetVersion");
  return target;
}

/// As in the CUDA runtime, the context is kept for the lifetime of the program.
Context make_primary_current(const DriverApi& api) {
  const AllowedDuringCapture allowed(api);
  Context context = nullptr;
  require(api, api.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  const Result set = api.cuCtxSetCurrent(context);
  if (set != Result::success) api.cuDevicePrimaryCtxRelease(0);
  require(api, set, "cuCtxSetCurrent");
  return context;
}

/// Identifies a context for the lifetime of the program. The handle does not: a primary context
/// keeps its handle when it is reset, but loses everything that was loaded.
struct ContextId {
  const DriverApi* api = nullptr;
  std::optional<Code> wanted = {};
  Context handle = nullptr;
  unsigned long long id = 0;

  auto operator<=>(const ContextId&) const = default;
};

ContextId current_id(const Driver& driver) {
  const DriverApi& api = *driver.api;
  Context context = nullptr;
  require(api, api.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (context == nullptr) context = make_primary_current(api);
  ContextId id{&api, driver.wanted, context, 0};
  require(api, api.cuCtxGetId(context, &id.id), "cuCtxGetId");
  return id;
}

ContextCache& find(const ContextId& id, const Driver& driver) {
  // Never destroyed: the driver may be gone when static objects are destroyed, and a context
  // unloads its modules itself.
  static auto* const mutex = new std::mutex;
  static auto* const caches = new std::map<ContextId, std::unique_ptr<ContextCache>>;
  const std::lock_guard lock(*mutex);
  if (const auto found = caches->find(id); found != caches->end()) return *found->second;
  auto made = std::make_unique<ContextCache>(driver);
  // Contexts that had this handle are no more.
  std::erase_if(*caches, [&](const auto& entry) {
    return entry.first.api == id.api && entry.first.handle == id.handle && entry.first.id != id.id;
  });
  return *caches->emplace(id, std::move(made)).first->second;
}

}  // namespace

ContextCache::ContextCache(const Driver& driver)
    : driver_(driver),
      target_(target_of(driver)),
      pool_(StreamPool::of(*driver.api, current_device(*driver.api))) {
  const Device device = current_device(api());
  limits_.shared_bytes =
      attribute(api(), DeviceAttribute::max_shared_memory_per_block_optin, device);
  limits_.multiprocessors = attribute(api(), DeviceAttribute::multiprocessor_count, device);
  char name[256] = "";
  require(api(), api().cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  tuned_ = TunedPlans::of_device(name);
}

Module ContextCache::load(const KernelName& kernel) {
  const Image* const image = select_image(kernel.id, target_);
  if (image == nullptr) {
    std::string message("rung: this build has no code for ");
    message.append(kernel.id).append(" on sm_").append(std::to_string(target_.arch));
    throw Error(Status::unavailable, message);
  }
  const Unit& unit = image->unit(kernel.dtype);
  Module& module = modules_[&unit];
  if (module != nullptr) return module;
  Module loaded = nullptr;
  require(api(), api().cuModuleLoadData(&loaded, unpack(unit).c_str()), "cuModuleLoadData");
  return module = loaded;
}

Function ContextCache::prepare(Entry& entry, const KernelName& kernel, std::int64_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  const AllowedDuringCapture allowed(api());
  Function function = entry.function.load(std::memory_order_relaxed);
  if (function == nullptr) {
    const std::string name = kernel.text();
    const Module module = load(kernel);
    require(api(), api().cuModuleGetFunction(&function, module, name.c_str()), name);
  }
  if (shared_bytes > entry.shared_bytes.load(std::memory_order_relaxed)) {
    require(api(),
            api().cuFuncSetAttribute(function, FunctionAttribute::max_dynamic_shared_size_bytes,
                                     static_cast<int>(shared_bytes)),
            kernel.id);
    entry.shared_bytes.store(shared_bytes, std::memory_order_release);
  }
  entry.function.store(function, std::memory_order_release);
  return function;
}

ContextCache& current_context() {
  const Driver& now = driver();
  const ContextId id = current_id(now);
  thread_local ContextId last_id;
  thread_local ContextCache* last = nullptr;
  if (last == nullptr || id != last_id) {
    last = &find(id, now);
    last_id = id;
  }
  return *last;
}

}  // namespace rung::cuda
