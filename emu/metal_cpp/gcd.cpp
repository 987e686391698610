// Semaphores of Grand Central Dispatch.

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "dispatch/dispatch.h"

struct dispatch_semaphore_s {
  std::mutex mutex;
  std::condition_variable raised;
  std::intptr_t value = 0;
};

namespace {

std::chrono::nanoseconds since_start() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

extern "C" {

dispatch_time_t dispatch_time(dispatch_time_t when, std::int64_t nanoseconds) {
  const auto base =
      when == DISPATCH_TIME_NOW ? static_cast<dispatch_time_t>(since_start().count()) : when;
  return base + static_cast<dispatch_time_t>(nanoseconds);
}

dispatch_semaphore_t dispatch_semaphore_create(std::intptr_t value) {
  auto* const semaphore = new dispatch_semaphore_s;
  semaphore->value = value;
  return semaphore;
}

std::intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) {
  std::unique_lock lock(semaphore->mutex);
  const auto is_free = [semaphore] { return semaphore->value > 0; };
  if (timeout == DISPATCH_TIME_FOREVER) {
    semaphore->raised.wait(lock, is_free);
  } else {
    const auto left = timeout == DISPATCH_TIME_NOW
                          ? std::chrono::nanoseconds(0)
                          : std::chrono::nanoseconds(timeout) - since_start();
    if (!semaphore->raised.wait_for(lock, left, is_free)) return 49;
  }
  --semaphore->value;
  return 0;
}

std::intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) {
  const std::lock_guard lock(semaphore->mutex);
  ++semaphore->value;
  semaphore->raised.notify_one();
  return 0;
}

// Objects of this interface are few and small.
void dispatch_release(void* /*object*/) {}

}  // extern "C"
