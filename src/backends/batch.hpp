#pragma once
// A problem bound to whatever solves it, ready to be called.

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace rung {

/// One call with its operands, to be run any number of times. On a device with a queue and memory
/// of its own the parts are apart, so that copies stay out of what is timed: the operands were
/// copied when the call was bound, and download() copies back.
class Batch {
 public:
  Batch() = default;

  /// Of a function that returns when all calls are done, on memory that is this program's.
  template <std::invocable<std::int64_t> Run>
  Batch(Run run) : enqueue_(std::move(run)) {}

  Batch(std::function<void(std::int64_t calls)> enqueue, std::function<void()> wait,
        std::function<void()> download, std::function<std::optional<double>()> device_seconds = {})
      : enqueue_(std::move(enqueue)),
        wait_(std::move(wait)),
        download_(std::move(download)),
        device_seconds_(std::move(device_seconds)) {}

  explicit operator bool() const { return static_cast<bool>(enqueue_); }

  /// Starts the calls, back to back, behind those that were started before.
  void enqueue(std::int64_t calls) const { enqueue_(calls); }
  /// Returns when all that was started is done. Like enqueue(), throws KernelError
  /// (core/kernel_error.hpp) if the device says that a call went wrong.
  void wait() const {
    if (wait_) wait_();
  }
  void run(std::int64_t calls) const {
    enqueue(calls);
    wait();
  }
  /// How long what the last wait() waited for took by the device's own clock, from its first start
  /// to its last end; nothing where the device has none, or where the host has a part in the calls.
  std::optional<double> device_seconds() const {
    return device_seconds_ ? device_seconds_() : std::nullopt;
  }
  /// Brings what the calls wrote to where the operands lie.
  void download() const {
    if (download_) download_();
  }
  /// One call from start to end: its results lie where the operands lie.
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
