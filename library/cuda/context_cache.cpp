#include "library/cuda/context_cache.hpp"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "rung/error.hpp"
#include "select/cuda/models.hpp"
#include "select/cuda/operands.hpp"

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

Target target_of(const Driver& driver, Device device) {
  const DriverApi& api = *driver.api;
  Target target{.arch = 10 * attribute(api, DeviceAttribute::compute_capability_major, device) +
                        attribute(api, DeviceAttribute::compute_capability_minor, device),
                .takes_cubin = driver.takes_cubin,
                .wanted = driver.wanted};
  require(api, api.cuDriverGetVersion(&target.driver_version), "cuDriverGetVersion");
  return target;
}

/// Like the CUDA runtime, retains the context for the lifetime of the program.
Context make_primary_current(const DriverApi& api) {
  const AllowedDuringCapture allowed(api);
  Context context = nullptr;
  require(api, api.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  const Result set = api.cuCtxSetCurrent(context);
  if (set != Result::success) api.cuDevicePrimaryCtxRelease(0);
  require(api, set, "cuCtxSetCurrent");
  return context;
}

/// Identifies a context for the lifetime of the program. The handle alone does not: a primary
/// context keeps its handle when it is reset, but loses all loaded modules.
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

[[noreturn]] void throw_no_image(std::string_view id, const Target& target) {
  std::string message("rung: this build has no code for ");
  message.append(id).append(" on sm_").append(std::to_string(target.arch));
  throw Error(Status::unavailable, message);
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

/// The inputs of a choice.
struct ConfigKey {
  std::uint64_t context = 0;  // a ContextCache's number; none has 0
  const GemmRung* rung = nullptr;
  Dtype dtype = {};
  bool a_by_rows = false, b_by_rows = false;  // their order in memory
  bool fast_copies = false, has_traffic_model = false, may_pack = false;
  std::int64_t a_alignment = 0, b_alignment = 0;  // row_alignment()
  int multiprocessors = 0;
  std::int64_t workspace_bytes = 0;
  std::int64_t m = 0, n = 0, k = 0;

  bool operator==(const ConfigKey&) const = default;
};

/// The configurations that a thread chose lately: programs multiply the same shapes again and again, and
/// asking a model takes longer than launching a kernel.
class RecentConfigs {
 public:
  /// The rung and its configuration stored for the key, or choose(), which is then stored.
  template <class F>
  ConfiguredGemm find_or(const ConfigKey& key, const F& choose) {
    Entry& entry = entries_[place_of(key)];
    if (!(entry.key == key)) {
      entry.chosen = choose();
      entry.key = key;
    }
    return *entry.chosen;
  }

 private:
  struct Entry {
    ConfigKey key;
    // Zeros, unlike a configuration, so that the entries take no bytes of the library's file.
    std::optional<ConfiguredGemm> chosen;
  };
  static constexpr std::size_t count = 128;

  /// Shapes of a program differ in few bits, and often in high ones: a multiplication spreads them.
  static std::size_t place_of(const ConfigKey& key) {
    const auto mixed = [](std::uint64_t hash, std::int64_t value) {
      return (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    };
    const std::uint64_t hash =
        mixed(mixed(mixed(static_cast<std::uint64_t>(key.dtype), key.m), key.n), key.k);
    return static_cast<std::size_t>(hash >> 57);
  }

  std::array<Entry, count> entries_ = {};
  static_assert(count == 1 << (64 - 57));
};

ContextCache& find(const ContextId& id, const Driver& driver) {
  // Never destroyed: the driver may have shut down when static objects are destroyed, and a context
  // unloads its modules itself.
  static auto* const mutex = new std::mutex;
  static auto* const caches = new std::map<ContextId, std::unique_ptr<ContextCache>>;
  const std::lock_guard lock(*mutex);
  if (const auto found = caches->find(id); found != caches->end()) return *found->second;
  auto made = std::make_unique<ContextCache>(driver);
  // Earlier contexts with this handle no longer exist.
  std::erase_if(*caches, [&](const auto& entry) {
    return entry.first.api == id.api && entry.first.handle == id.handle && entry.first.id != id.id;
  });
  return *caches->emplace(id, std::move(made)).first->second;
}

}  // namespace

ContextCache::ContextCache(const Driver& driver)
    : number_(next_number()),
      driver_(driver),
      device_(current_device(*driver.api)),
      target_(target_of(driver, device_)),
      pool_(StreamPool::of(*driver.api, device_)),
      kernels_(*driver.api, target_, {require, throw_no_image}) {
  limits_.shared_bytes =
      attribute(api(), DeviceAttribute::max_shared_memory_per_block_optin, device_);
  limits_.multiprocessors = attribute(api(), DeviceAttribute::multiprocessor_count, device_);
  char name[256] = "";
  require(api(), api().cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName");
  tuned_ = TunedConfigs::of_device(name);
}

CudaGemmChoice ContextCache::configured(CudaGemmChoice choice, const GemmCall& g,
                                        const Limits& limits) const {
  if (tiles_of(*choice.rung, g.dtype).empty()) return choice;
  const bool has_all_sms = limits.multiprocessors == limits_.multiprocessors;
  thread_local RecentConfigs recent;
  const ConfigKey key = {.context = number_,
                         .rung = choice.rung,
                         .dtype = g.dtype,
                         .a_by_rows = g.a.col_stride == 1,
                         .b_by_rows = g.b.col_stride == 1,
                         .fast_copies = has_fast_copies(*choice.rung, g),
                         .has_traffic_model = has_traffic_model(g),
                         .may_pack = limits.may_pack,
                         .a_alignment = row_alignment(g.a, g.dtype),
                         .b_alignment = row_alignment(g.b, g.dtype),
                         .multiprocessors = limits.multiprocessors,
                         .workspace_bytes = limits.workspace_bytes,
                         .m = g.m,
                         .n = g.n,
                         .k = g.k};
  return recent.find_or(key, [&] {
    choice.config = tuned_.best(*choice.rung, choice.id, g, limits);
    const auto rival = rival_of(choice, g.dtype);
    if (!rival) return choice;
    const CudaGemmChoice faster = tuned_.faster(choice, *rival, g, limits);
    // Clusters that are not persistent would occupy SMs that the caller keeps for others.
    return has_all_sms ? faster_by_traffic(faster, g, limits) : faster;
  });
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
