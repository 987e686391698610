#pragma once
// A kernel in a file of the user's, verified and timed as rungs are.

#include <memory>
#include <string>

#include "kernel_file/kernel_file.hpp"
#include "measure/contender.hpp"

namespace rung {

class KernelContender final : public Contender {
 public:
  explicit KernelContender(std::shared_ptr<const LoadedKernel> kernel)
      : kernel_(std::move(kernel)) {}

  std::string name() const override { return kernel_->file().name(); }

  Bound bind(const GemmCall& call, int threads) const override;
  Bound bind(const DotCall& call, int threads, void* result) const override;

 private:
  std::shared_ptr<const LoadedKernel> kernel_;
};

/// Empty if the signature can express the call, otherwise the reason in a few words.
std::string why_not(const Signature& signature, const GemmCall& call);
std::string why_not(const Signature& signature, const DotCall& call);

}  // namespace rung
