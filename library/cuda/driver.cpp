#include "library/cuda/driver.hpp"

#include <pthread.h>

#include <atomic>
#include <new>
#include <string>

#include "core/cuda_driver/error.hpp"
#include "core/cuda_driver/real_driver.hpp"
#include "rung/error.hpp"

namespace rung::cuda {
namespace {

std::atomic<const Driver*> in_use = nullptr;
std::atomic<bool> is_opened = false;  // or about to be opened
std::atomic<bool> is_of_parent = false;

/// In a child process, locks held by the parent's threads remain locked, so the state of the driver
/// and of the library must not be used.
void watch_fork() {
  [[maybe_unused]] static const int watched = pthread_atfork(nullptr, nullptr, [] {
    is_of_parent = is_of_parent || is_opened || in_use.load() != nullptr;
    in_use = nullptr;
  });
}

const Driver& open() {
  if (is_of_parent) {
    throw Error(Status::unavailable,
                "rung: the CUDA driver cannot be used in a child of fork() where the parent has "
                "used it; start a new program in the child");
  }
  if (images().empty()) {
    throw Error(Status::unavailable, "rung: this build has no CUDA kernels");
  }
  watch_fork();
  is_opened = true;
  const RealDriver real = real_driver();
  is_opened = real.api != nullptr;
  if (!is_opened) throw Error(Status::unavailable, "rung: " + real.why_not);
  static const Driver opened{real.api};
  in_use = &opened;
  return opened;
}

}  // namespace

const Driver& driver() {
  const Driver* const now = in_use.load(std::memory_order_acquire);
  return now == nullptr ? open() : *now;
}

void use_driver(const Driver* other) {
  watch_fork();
  in_use = other;
}

void require(const DriverApi& api, Result result, std::string_view what) {
  if (result == Result::success) [[likely]]
    return;
  if (result == Result::out_of_memory) throw std::bad_alloc();
  std::string message("rung: ");
  message.append(what).append(": ").append(describe(api, result));
  throw Error(Status::device_error, message);
}

}  // namespace rung::cuda
