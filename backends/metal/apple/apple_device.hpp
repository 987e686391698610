#pragma once
// A device accessed through Metal, by Apple's metal-cpp.

#include <Metal/Metal.hpp>
#include <map>
#include <mutex>

#include "backends/metal/apple/command_queue.hpp"
#include "backends/metal/device.hpp"
#include "backends/metal/images.hpp"

namespace rung::metal {

class AppleDevice final : public Device {
 public:
  /// `compiled` is a folder with one metallib per rung. If it is empty, Metal compiles the sources.
  AppleDevice(NS::SharedPtr<MTL::Device> device, std::string compiled);

  std::string describe() const override;
  bool is_virtual() const override { return false; }
  std::int64_t cache_bytes() const override;
  std::string code(std::string_view rung) const override;
  std::optional<std::string> why_not(const Launch& launch) const override;

  std::unique_ptr<Buffer> allocate(std::int64_t bytes) override;
  Pipeline& pipeline(std::string_view rung, const std::string& kernel) override;
  void dispatch(Pipeline& pipeline, const Launch& launch, std::span<const Argument> arguments,
                int threads) override;
  void set_to_zero(Buffer& buffer, std::int64_t offset, std::int64_t bytes) override;
  void wait() override;
  std::optional<double> seconds() const override;

 private:
  MTL::Library& library(std::string_view rung);
  NS::SharedPtr<MTL::Library> compile(const Text& rung);
  NS::SharedPtr<MTL::Library> load(const Text& rung);

  NS::SharedPtr<MTL::Device> device_;
  std::string compiled_;
  std::unique_ptr<Buffer> nothing_;  // bound in place of memory of size 0
  std::mutex mutex_;                 // guards the members below
  CommandQueue queue_;
  std::map<std::string, NS::SharedPtr<MTL::Library>, std::less<>> libraries_;
  std::map<std::string, std::unique_ptr<Pipeline>> pipelines_;
};

}  // namespace rung::metal
