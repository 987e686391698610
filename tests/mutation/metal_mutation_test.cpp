// Removes each barrier of each Metal rung in turn. Every such mutant has a race, even if its
// results are right, and the virtual GPU must report it.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/metal/images.hpp"
#include "backends/rungs/metal.hpp"
#include "sample.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal {
namespace {

using Hazards = std::vector<vgpu::Hazard>;

/// A device with one kernel in its memory.
class Device {
 public:
  float* array(std::int64_t count) {
    const std::vector<float> values(static_cast<std::size_t>(count), 1.0f);
    const std::uint64_t address = memory_.allocate(values.size() * sizeof(float));
    memory_.write(address, values.data(), values.size() * sizeof(float));
    return reinterpret_cast<float*>(address);
  }

  /// Runs an entry with scalars and three buffers.
  template <class Scalars>
  Hazards run(const std::string& text, const std::string& entry, const Launch& launch,
              const Scalars& scalars, const std::vector<float*>& buffers) {
    std::vector<std::byte> parameters(sizeof scalars + buffers.size() * sizeof(float*));
    std::memcpy(parameters.data(), &scalars, sizeof scalars);
    std::memcpy(parameters.data() + sizeof scalars, buffers.data(),
                buffers.size() * sizeof(float*));
    const auto dim = [](const Size3& size) {
      return vgpu::Dim3{static_cast<std::uint32_t>(size.x), static_cast<std::uint32_t>(size.y),
                        static_cast<std::uint32_t>(size.z)};
    };
    vgpu::LaunchOptions options;
    options.grid = dim(launch.threadgroups);
    options.block = dim(launch.threads);
    const auto module = vgpu::Module::load(text, "mutant", memory_);
    return vgpu::launch(*module->kernel(entry), options, parameters, memory_,
                        vgpu::parse_device("m1pro"))
        .hazards;
  }

 private:
  vgpu::DeviceMemory memory_{1 << 26};
};

// Several whole tiles in each direction: some rungs accept no others.
Hazards run_gemm(const GemmRung& rung, const std::string& text) {
  constexpr std::int64_t m = 80, n = 96, k = 48;
  Device device;
  const GemmScalars<float> scalars = {m, n, k, k, 1, n, 1, n, 1, 1, 1, 1, 1};
  return device.run(text, kernel_name(rung.entry, Dtype::f32), rung.launch(m, n), scalars,
                    {device.array(m * k), device.array(k * n), device.array(m * n)});
}

Hazards run_dot(const DotRung& rung, const std::string& text) {
  constexpr std::int64_t n = 5000;
  Device device;
  const DotScalars scalars = {n, 1, 1, 1};
  const Launch launch = rung.launch(n);
  return device.run(text, kernel_name(rung.entry, Dtype::f32), launch, scalars,
                    {device.array(n), device.array(n),
                     device.array(rung.sums(n) + rung.scratch * launch.threadgroups.x)});
}

std::string_view ptx_of(std::string_view id) {
  for (const Image& image : images()) {
    if (image.id == id) return image.ptx;
  }
  return {};
}

/// The text of one entry.
std::string_view entry_text(std::string_view text, const std::string& entry) {
  const std::size_t begin = text.find(".entry " + entry + "(");
  const std::size_t end = text.find(".entry ", begin + 1);
  return text.substr(begin, end == text.npos ? end : end - begin);
}

class MetalMutation : public testing::Test {
 protected:
  /// Runs the unchanged rung, then once without each of its barriers.
  void mutate(std::string_view id, std::string_view entry,
              const std::function<Hazards(const std::string&)>& run) {
    if (!sample_.has_next()) return;
    const std::string text(ptx_of(id));
    ASSERT_FALSE(text.empty()) << id;
    for (const vgpu::Hazard& hazard : run(text)) {
      ADD_FAILURE() << id << ", as it is: " << hazard.message;
    }
    const std::string_view body = entry_text(text, kernel_name(entry, Dtype::f32));
    const auto begin = static_cast<std::size_t>(body.data() - text.data());
    for (const std::string_view barrier : {"bar.sync", "bar.warp.sync"}) {
      for (std::size_t at = body.find(barrier); at != body.npos; at = body.find(barrier, at + 1)) {
        const std::size_t length = body.find(';', at) + 1 - at;
        std::string mutant = text;
        mutant.replace(begin + at, length, length, ' ');
        const bool found = !run(mutant).empty();
        ++mutants;
        caught += found ? 1 : 0;
        EXPECT_TRUE(found) << id << " without the " << barrier << " at " << begin + at;
      }
    }
  }

  int mutants = 0, caught = 0;

 private:
  Sample sample_;
};

TEST_F(MetalMutation, EveryRemovedBarrierIsCaught) {
  for (const auto& [id, rung] : gemm_rungs) {
    mutate(id, rung->entry, [&](const std::string& text) { return run_gemm(*rung, text); });
  }
  for (const auto& [id, rung] : dot_rungs) {
    mutate(id, rung->entry, [&](const std::string& text) { return run_dot(*rung, text); });
  }
  EXPECT_GT(mutants, 0);
  std::printf("mutation score: %d of %d removed barriers caught\n", caught, mutants);
}

}  // namespace
}  // namespace rung::metal
