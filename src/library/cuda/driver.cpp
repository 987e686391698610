#include "library/cuda/driver.hpp"

#include <atomic>
#include <new>
#include <string>

#include "backends/cuda/driver_error.hpp"
#include "backends/cuda/real_driver.hpp"
#include "rung/error.hpp"

namespace rung::cuda {
namespace {

std::atomic<const Driver*> in_use = nullptr;

const Driver& open() {
  if (images().empty()) {
    throw Error(Status::unavailable, "rung: this build has no CUDA kernels");
  }
  const RealDriver& real = real_driver();
  if (real.api == nullptr) throw Error(Status::unavailable, "rung: " + real.why_not);
  static const Driver opened{real.api};
  in_use = &opened;
  return opened;
}

}  // namespace

const Driver& driver() {
  const Driver* const now = in_use.load(std::memory_order_acquire);
  return now == nullptr ? open() : *now;
}

void use_driver(const Driver* other) { in_use = other; }

void require(const DriverApi& api, Result result, std::string_view what) {
  if (result == Result::success) [[likely]]
    return;
  if (result == Result::out_of_memory) throw std::bad_alloc();
  std::string message("rung: ");
  message.append(what).append(": ").append(describe(api, result));
  throw Error(Status::device_error, message);
}

}  // namespace rung::cuda
