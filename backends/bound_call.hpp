#pragma once
// A rung bound to a problem, ready to run.

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace rung {

/// One call with its operands, which can run any number of times. On a device with a queue and its
/// own memory, the steps are separate so that copies are not timed: binding copies the operands to
/// the device, and download() copies them back.
class BoundCall {
 public:
  BoundCall() = default;

  /// Wraps a function that runs on host memory and returns when all calls are done.
  template <std::invocable<std::int64_t> Run>
  BoundCall(Run run) : enqueue_(std::move(run)) {}

  BoundCall(std::function<void(std::int64_t calls)> enqueue, std::function<void()> wait,
            std::function<void()> download,
            std::function<std::optional<double>()> device_seconds = {})
      : enqueue_(std::move(enqueue)),
        wait_(std::move(wait)),
        download_(std::move(download)),
        device_seconds_(std::move(device_seconds)) {}

  explicit operator bool() const { return static_cast<bool>(enqueue_); }

  /// Enqueues `calls` back-to-back calls.
  void enqueue(std::int64_t calls) const { enqueue_(calls); }
  /// Waits for all enqueued calls. Like enqueue(), throws KernelError (core/kernel_error.hpp) if
  /// the device reports a failure.
  void wait() const {
    if (wait_) wait_();
  }
  void run(std::int64_t calls) const {
    enqueue(calls);
    wait();
  }
  /// The duration of the calls that the last wait() waited for, by the device's own clock, from the
  /// first start to the last end. Empty if the device has no clock or part of a call runs on the
  /// host.
  std::optional<double> device_seconds() const {
    return device_seconds_ ? device_seconds_() : std::nullopt;
  }
  /// Copies results to the host's operands.
  void download() const {
    if (download_) download_();
  }
  /// Runs one call and copies its results to the host's operands.
  void call() const {
    run(1);
    download();
  }

 private:
  std::function<void(std::int64_t)> enqueue_;
  std::function<void()> wait_;
  std::function<void()> download_;
  std::function<std::optional<double>()> device_seconds_;
};

}  // namespace rung
