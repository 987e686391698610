#pragma once
// A user's Metal file, verified and timed like a rung.

#include <memory>
#include <string>

#include "tools/kernel_file/loaded_file.hpp"
#include "tools/kernel_file/metal_kernel.hpp"

namespace rung {

class MetalFile final : public LoadedFile {
 public:
  explicit MetalFile(std::shared_ptr<const MetalKernel> kernel) : kernel_(std::move(kernel)) {}

  std::string name() const override { return kernel_->file().name(); }
  const std::string& code() const override { return kernel_->code(); }

  Bound bind(const GemmCall& call, int threads) const override;
  /// Sets the result to 0 before each dispatch.
  Bound bind(const DotCall& call, int threads, void* result) const override;

 private:
  std::shared_ptr<const MetalKernel> kernel_;
};

}  // namespace rung
