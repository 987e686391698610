#pragma once
// Operands in device memory. If a kernel fails, they are lost together with the context.

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
  /// Throws KernelError with the name of the user if the operands were lost.
  void require_present(const std::string& user) const {
    if (generation_ == gpu_.generation()) return;
    throw KernelError(user + ": its operands were lost when another kernel failed");
  }
  /// Copies the results of a call to the host's operands. If guards surround the inputs, copies
  /// these, too, so that verification can check that they are unchanged.
  virtual void download() const = 0;

 private:
  Gpu& gpu_;
  int generation_;
};

}  // namespace rung::cuda
