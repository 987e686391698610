#pragma once
// A user's CUDA file, verified and timed like a rung.

#include <memory>
#include <string>

#include "tools/kernel_file/loaded_file.hpp"

namespace rung {

class CudaFile final : public LoadedFile {
 public:
  explicit CudaFile(std::shared_ptr<const LoadedKernel> kernel) : kernel_(std::move(kernel)) {}

  std::string name() const override { return kernel_->file().name(); }
  const std::string& code() const override { return kernel_->code(); }

  Bound bind(const GemmCall& call, int threads) const override;
  Bound bind(const DotCall& call, int threads, void* result) const override;

 private:
  std::shared_ptr<const LoadedKernel> kernel_;
};

}  // namespace rung
