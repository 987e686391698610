#pragma once
// Operands in device memory, which are lost with the context when a kernel fails.

#include <string>

#include "backends/cuda/gpu.hpp"
#include "core/kernel_error.hpp"

namespace rung::cuda {

class Operands {
 public:
  explicit Operands(Gpu& gpu) : gpu_(gpu), generation_(gpu.generation()) {}
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  virtual ~Operands() = default;

  Gpu& gpu() const { return gpu_; }
  /// Throws KernelError, naming who asks, if they were lost.
  void require_present(const std::string& user) const {
    if (generation_ == gpu_.generation()) return;
    throw KernelError(user + ": its operands were lost when another kernel failed");
  }
  /// What a call wrote to where the host's operands lie, and also what it should not have written,
  /// where a guard tells: so that somebody can see that it is as it was.
  virtual void download() const = 0;

 private:
  Gpu& gpu_;
  int generation_;
};

}  // namespace rung::cuda
