// Context calls: the primary context, other contexts, and each thread's current context.

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"

namespace rung::vgpu::driver {
namespace {

constexpr unsigned api_version = 3020;  // version of the context API since CUDA 3.2

void require_flags(unsigned flags) {
  const unsigned schedule = flags & cuda::context_schedule_mask;
  const bool one_schedule = schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4;
  require((flags & ~cuda::context_flags_mask) == 0 && one_schedule, Result::invalid_value,
          "not flags of a context");
}

Context new_handle() { return reinterpret_cast<Context>(next_handle()); }

void activate(Context handle, unsigned flags) {
  process().contexts[handle] = std::make_shared<ContextState>(handle, flags, process().device);
}

bool is_active(const PrimaryContext& primary) {
  return primary.handle != nullptr && process().contexts.contains(primary.handle);
}

/// Destroys a context. It stays current in its threads, whose next calls fail because of that.
void destroy(Context handle) {
  process().pending.run_all();
  process().order.synchronize_all();
  const auto found = process().contexts.find(handle);
  if (found == process().contexts.end()) return;
  flush_printed(*found->second);
  for (const auto& [address, range] : found->second->ranges) observe_final(*found->second, address);
  process().contexts.erase(found);
}

ContextState& find_context(Context handle) {
  const auto found = process().contexts.find(handle);
  require(found != process().contexts.end(), Result::invalid_context,
          "not a context, or no longer");
  return *found->second;
}

std::size_t& find_limit(ContextState& context, Limit limit) {
  const auto found = context.limits.find(limit);
  if (found != context.limits.end()) return found->second;
  fail(limit == Limit::dev_runtime_sync_depth ? Result::unsupported_limit : Result::invalid_value,
       fmt::format("the virtual GPU has no limit {}", static_cast<int>(limit)));
}

void require_config(CacheConfig config) {
  require(config >= CacheConfig::prefer_none && config <= CacheConfig::prefer_equal,
          Result::invalid_value, "not a cache configuration");
}

}  // namespace

Result cuDevicePrimaryCtxRetain(Context* context, Device device) {
  return call_driver([&] {
    require_pointer(context);
    require_device(device);
    PrimaryContext& primary = process().primary;
    if (primary.handle == nullptr) primary.handle = new_handle();
    if (!is_active(primary)) activate(primary.handle, primary.flags);
    ++primary.retained;
    *context = primary.handle;
  });
}

Result cuDevicePrimaryCtxRelease(Device device) {
  return call_driver([&] {
    require_device(device);
    PrimaryContext& primary = process().primary;
    require(primary.retained > 0, Result::invalid_context, "the primary context is not retained");
    if (--primary.retained == 0) destroy(primary.handle);
  });
}

Result cuDevicePrimaryCtxReset(Device device) {
  return call_driver([&] {
    require_device(device);
    // Holders of the primary context must still release it.
    destroy(process().primary.handle);
  });
}

Result cuDevicePrimaryCtxSetFlags(Device device, unsigned flags) {
  return call_driver([&] {
    require_device(device);
    require_flags(flags);
    PrimaryContext& primary = process().primary;
    primary.flags = flags;
    if (is_active(primary)) find_context(primary.handle).flags = flags;
  });
}

Result cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* active) {
  return call_driver([&] {
    require_pointer(flags);
    require_pointer(active);
    require_device(device);
    *flags = process().primary.flags;
    *active = is_active(process().primary) ? 1 : 0;
  });
}

Result cuCtxCreate(Context* context, unsigned flags, Device device) {
  return call_driver([&] {
    require_pointer(context);
    require_flags(flags);
    require_device(device);
    const Context handle = new_handle();
    activate(handle, flags);
    context_stack().push_back(handle);
    *context = handle;
  });
}

Result cuCtxDestroy(Context context) {
  return call_driver([&] {
    find_context(context);
    require(context != process().primary.handle, Result::invalid_context,
            "the primary context is released, not destroyed");
    std::vector<Context>& stack = context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    destroy(context);
  });
}

Result cuCtxSetCurrent(Context context) {
  return call_driver([&] {
    std::vector<Context>& stack = context_stack();
    if (context != nullptr) find_context(context);
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
  });
}

Result cuCtxGetCurrent(Context* context) {
  return call_driver([&] {
    require_pointer(context);
    *context = context_stack().empty() ? nullptr : context_stack().back();
  });
}

Result cuCtxPushCurrent(Context context) {
  return call_driver([&] {
    find_context(context);
    context_stack().push_back(context);
  });
}

Result cuCtxPopCurrent(Context* context) {
  return call_driver([&] {
    std::vector<Context>& stack = context_stack();
    require(!stack.empty(), Result::invalid_context, "no context is current in this thread");
    if (context != nullptr) *context = stack.back();
    stack.pop_back();
  });
}

Result cuCtxGetDevice(Device* device) {
  return call_driver([&] {
    require_pointer(device);
    const std::vector<Context>& stack = context_stack();
    require(!stack.empty() && stack.back() != nullptr, Result::invalid_context,
            "no context is current in this thread");
    *device = 0;
  });
}

Result cuCtxGetFlags(unsigned* flags) {
  return call_driver([&] {
    require_pointer(flags);
    *flags = current_context_even_if_faulty().flags | cuda::context_map_host;
  });
}

Result cuCtxGetApiVersion(Context context, unsigned* version) {
  return call_driver([&] {
    require_pointer(version);
    if (context == nullptr) {
      current_context_even_if_faulty();
    } else {
      find_context(context);
    }
    *version = api_version;
  });
}

Result cuCtxGetId(Context context, unsigned long long* id) {
  return call_driver([&] {
    require_pointer(id);
    if (context == nullptr) {
      *id = current_context_even_if_faulty().id;
      return;
    }
    const auto found = process().contexts.find(context);
    require(found != process().contexts.end(), Result::context_is_destroyed,
            "not a context, or no longer");
    *id = found->second->id;
  });
}

Result cuCtxSynchronize() {
  let_other_threads_go_first_if_ordered();
  return call_driver([&] {
    process().pending.run_all();
    // Unlike a GPU, also print what a faulty kernel wrote before the fault.
    ContextState& context = current_context_even_if_faulty();
    flush_printed(context);
    refuse_in_capture(context, false);
    process().order.synchronize_all();
    current_context();  // fails if a kernel has failed
  });
}

Result cuCtxGetLimit(std::size_t* value, Limit limit) {
  return call_context([&](ContextState& context) {
    require_pointer(value);
    *value = find_limit(context, limit);
  });
}

/// Only the size of the printf ring has an effect, and it is fixed once a kernel that prints has
/// been launched. The other limits are stored and returned: a kernel's stack and heap grow as
/// needed.
Result cuCtxSetLimit(Limit limit, std::size_t value) {
  return call_context([&](ContextState& context) {
    std::size_t& kept = find_limit(context, limit);
    require(limit != Limit::printf_fifo_size || !context.has_printed, Result::invalid_value,
            "the size of printf's ring is set before a kernel that prints is launched");
    kept = value;
  });
}

Result cuCtxGetCacheConfig(CacheConfig* config) {
  return call_context([&](ContextState& context) {
    require_pointer(config);
    *config = context.cache_config;
  });
}

Result cuCtxSetCacheConfig(CacheConfig config) {
  return call_context([&](ContextState& context) {
    require_config(config);
    context.cache_config = config;
  });
}

Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call_context([&](ContextState&) {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
  });
}

}  // namespace rung::vgpu::driver
