#pragma once
// The driver under test, with one failing call: the n-th that the library makes. Counts the objects
// that the driver creates and destroys.

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "counting_driver.hpp"

namespace rung::cuda {

/// The bytes of a module: for PTX, the text; for machine code, an ELF file up to the end of its
/// section headers. The address does not identify a module, because the library unpacks modules
/// into temporary memory.
inline std::string contents_of(const void* image) {
  const auto* const bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return bytes;
  std::uint64_t headers = 0;
  std::uint16_t size = 0, count = 0;
  std::memcpy(&headers, bytes + 0x28, sizeof headers);
  std::memcpy(&size, bytes + 0x3A, sizeof size);
  std::memcpy(&count, bytes + 0x3C, sizeof count);
  return {bytes, headers + std::uint64_t{size} * count};
}

class FailingDriver {
 public:
  static FailingDriver& the() {
    static FailingDriver driver;
    return driver;
  }

  /// From now on, the current context appears to be new, so the library loads and allocates what it
  /// needs. Modules, which take long to load, are reused.
  void seem_new() {
    ++context_id_;
    held.clear();
  }
  /// Call before the context is destroyed.
  void forget_modules() { modules_.clear(); }

  /// Call number `at`, from 1, fails with `error`; 0: none. Resets all counts.
  void fail(int at, Result error) {
    at_ = at;
    error_ = error;
    calls_ = 0;
    failed_.clear();
  }
  /// The call that failed; empty if there were fewer calls.
  const std::string& failed() const { return failed_; }

  /// Device memory, pools, retained contexts and user objects that the driver has given to the
  /// library and not received back, by the name of the creating call.
  std::map<std::string, std::set<std::uint64_t>> held;

  /// Launches succeed without running.
  bool is_dry = false;

  const DriverApi& api() const { return table_; }

  template <class Call>
  Result call(const char* name, const Call& passed_on) {
    if (++calls_ == at_) {
      failed_ = name;
      return error_;
    }
    return passed_on();
  }

 private:
  FailingDriver();

  DriverApi table_;
  int calls_ = 0, at_ = 0;
  Result error_ = Result::success;
  std::string failed_;
  unsigned long long context_id_ = 1;
  std::map<std::string, Module> modules_;  // by contents
};

template <auto DriverApi::* member, class Signature>
struct Failing;

template <auto DriverApi::* member, class... Arguments>
struct Failing<member, Result(Arguments...)> {
  static inline const char* name = nullptr;

  static Result call(Arguments... arguments) {
    return FailingDriver::the().call(name, [&] { return (tested_driver().*member)(arguments...); });
  }
};

template <class Handle>
std::uint64_t number_of(Handle handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

inline FailingDriver::FailingDriver() {
#define RUNG_FAILING(member, symbol, ...)                   \
  Failing<&DriverApi::member, __VA_ARGS__>::name = #member; \
  table_.member = Failing<&DriverApi::member, __VA_ARGS__>::call;
  RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_FAILING)
#undef RUNG_FAILING
  // Looking up the name of an error never fails.
  table_.cuGetErrorName = tested_driver().cuGetErrorName;
  table_.cuGetErrorString = tested_driver().cuGetErrorString;
  table_.cuCtxGetId = [](Context, unsigned long long* id) {
    return the().call("cuCtxGetId", [&] {
      *id = the().context_id_;
      return Result::success;
    });
  };
  table_.cuModuleLoadData = [](Module* module, const void* image) {
    return the().call("cuModuleLoadData", [&] {
      Module& loaded = the().modules_[contents_of(image)];
      const Result result =
          loaded != nullptr ? Result::success : tested_driver().cuModuleLoadData(&loaded, image);
      *module = loaded;
      return result;
    });
  };
  table_.cuLaunchKernel = [](Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned dynamic_shared_bytes, Stream stream, void** parameters,
                             void** extra) {
    return the().call("cuLaunchKernel", [&] {
      if (the().is_dry) return Result::success;
      return tested_driver().cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
                                            block_z, dynamic_shared_bytes, stream, parameters,
                                            extra);
    });
  };
  table_.cuLaunchKernelEx = [](const LaunchConfig* config, Function function, void** parameters,
                               void** extra) {
    return the().call("cuLaunchKernelEx", [&] {
      if (the().is_dry) return Result::success;
      return tested_driver().cuLaunchKernelEx(config, function, parameters, extra);
    });
  };
  table_.cuMemAlloc = [](DevicePointer* pointer, std::size_t bytes) {
    const Result result =
        the().call("cuMemAlloc", [&] { return tested_driver().cuMemAlloc(pointer, bytes); });
    if (result == Result::success) the().held["cuMemAlloc"].insert(*pointer);
    return result;
  };
  table_.cuMemFree = [](DevicePointer pointer) {
    const Result result =
        the().call("cuMemFree", [&] { return tested_driver().cuMemFree(pointer); });
    if (result == Result::success) the().held["cuMemAlloc"].erase(pointer);
    return result;
  };
  table_.cuMemAllocFromPoolAsync = [](DevicePointer* pointer, std::size_t bytes, MemoryPool pool,
                                      Stream stream) {
    const Result result = the().call("cuMemAllocFromPoolAsync", [&] {
      return tested_driver().cuMemAllocFromPoolAsync(pointer, bytes, pool, stream);
    });
    if (result == Result::success) the().held["cuMemAllocFromPoolAsync"].insert(*pointer);
    return result;
  };
  table_.cuMemFreeAsync = [](DevicePointer pointer, Stream stream) {
    const Result result = the().call(
        "cuMemFreeAsync", [&] { return tested_driver().cuMemFreeAsync(pointer, stream); });
    if (result == Result::success) the().held["cuMemAllocFromPoolAsync"].erase(pointer);
    return result;
  };
  table_.cuMemPoolCreate = [](MemoryPool* pool, const MemoryPoolProperties* properties) {
    const Result result = the().call(
        "cuMemPoolCreate", [&] { return tested_driver().cuMemPoolCreate(pool, properties); });
    if (result == Result::success) the().held["cuMemPoolCreate"].insert(number_of(*pool));
    return result;
  };
  table_.cuMemPoolDestroy = [](MemoryPool pool) {
    const Result result =
        the().call("cuMemPoolDestroy", [&] { return tested_driver().cuMemPoolDestroy(pool); });
    if (result == Result::success) the().held["cuMemPoolCreate"].erase(number_of(pool));
    return result;
  };
  table_.cuUserObjectCreate = [](UserObject* object, void* pointer, HostFunction destroy,
                                 unsigned references, unsigned flags) {
    const Result result = the().call("cuUserObjectCreate", [&] {
      return tested_driver().cuUserObjectCreate(object, pointer, destroy, references, flags);
    });
    if (result == Result::success) the().held["cuUserObjectCreate"].insert(number_of(*object));
    return result;
  };
  table_.cuUserObjectRelease = [](UserObject object, unsigned count) {
    const Result result = the().call(
        "cuUserObjectRelease", [&] { return tested_driver().cuUserObjectRelease(object, count); });
    if (result == Result::success) the().held["cuUserObjectCreate"].erase(number_of(object));
    return result;
  };
  table_.cuGraphRetainUserObject = [](Graph graph, UserObject object, unsigned count,
                                      unsigned flags) {
    const Result result = the().call("cuGraphRetainUserObject", [&] {
      return tested_driver().cuGraphRetainUserObject(graph, object, count, flags);
    });
    if (result == Result::success) the().held["cuUserObjectCreate"].erase(number_of(object));
    return result;
  };
}

}  // namespace rung::cuda
