#include "library/dist/nccl/backend.hpp"

#include <atomic>
#include <new>
#include <string>

#include "core/cuda_driver/error.hpp"
#include "core/cuda_driver/real_driver.hpp"
#include "core/shared_library/shared_library.hpp"
#include "rung/dist_plan.hpp"

namespace rung::nccl {
namespace {

std::atomic<const Backend*> in_use = nullptr;

PeerApi open_peer_api() {
  const SharedLibrary driver({"libcuda.so.1"});
  PeerApi api;
#define RUNG_FIND(member, symbol, ...)                                                             \
  api.member = driver.find<__VA_ARGS__>(symbol);                                                   \
  if (api.member == nullptr) {                                                                     \
    throw Error(Status::unavailable, "rung: the NVIDIA driver here is too old: it lacks " symbol); \
  }
  RUNG_PEER_FUNCTIONS(RUNG_FIND)
#undef RUNG_FIND
  return api;
}

}  // namespace

const PeerApi& real_peer_api() {
  static const PeerApi* const api = new PeerApi(open_peer_api());
  return *api;
}

Backend backend() {
  if (const Backend* const other = in_use.load()) return *other;
  const cuda::RealDriver driver = cuda::real_driver();
  if (driver.api == nullptr) throw Error(Status::unavailable, "rung: " + driver.why_not);
  return {.driver = driver.api, .peers = &real_peer_api(), .nccl = &real_nccl()};
}

void use_backend(const Backend* other) { in_use = other; }

void require(const cuda::DriverApi& api, cuda::Result result, const char* what) {
  if (result == cuda::Result::success) [[likely]]
    return;
  if (result == cuda::Result::out_of_memory) throw std::bad_alloc();
  throw Error(Status::device_error,
              std::string("rung: ").append(what).append(": ").append(describe(api, result)));
}

void require(const Api& api, Result result, const char* what) {
  if (result == Result::success) [[likely]]
    return;
  throw dist::CommunicationError(
      std::string("rung: ").append(what).append(": ").append(api.ncclGetErrorString(result)));
}

}  // namespace rung::nccl
