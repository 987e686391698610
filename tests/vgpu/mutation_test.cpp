// Removes each barrier of each CUDA rung in turn. Every such mutant has a race, whether or not its
// numbers come out right, and the virtual GPU must say so.

#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/cuda/rungs.hpp"
#include "vgpu/launch.hpp"

namespace rung {
namespace {

// Neither is a multiple of a tile, and there are several tiles in each direction.
constexpr std::int64_t m = 70, n = 45, k = 83;

struct Rung {
  std::string_view id;
  const cuda::GemmRung* rung;
};
const Rung rungs[] = {
#define RUNG(number, slug) {"gemm/cuda/" #number "_" #slug, &gemm_cuda_##number##_##slug},
#include "gemm/cuda/rungs.inc"
#undef RUNG
};

/// Where the statements that begin with `bar.sync` are in the text: begin and length.
struct Statement {
  std::size_t at, length;
};
std::vector<Statement> barriers(std::string_view text) {
  std::vector<Statement> found;
  for (const std::string_view word : {"bar.sync", "barrier.sync"}) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      found.push_back({at, text.find(';', at) + 1 - at});
    }
  }
  return found;
}

vgpu::LaunchReport run(const std::string& text, const cuda::GemmRung& rung) {
  vgpu::DeviceMemory memory(1 << 26);
  const auto array = [&](std::int64_t count) {
    const std::vector<float> values(static_cast<std::size_t>(count), 1.0f);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(float));
    memory.write(address, values.data(), values.size() * sizeof(float));
    return reinterpret_cast<float*>(address);
  };
  const Gemm<float> gemm{
      m, n, k, 1.0f, {array(m * k), k, 1}, {array(k * n), n, 1}, 1.0f, {array(m * n), n, 1}};
  const cuda::Launch launch = rung.launch<float>()(gemm, {});
  const auto dim = [](const cuda::Dim3& d) {
    return vgpu::Dim3{static_cast<std::uint32_t>(d.x), static_cast<std::uint32_t>(d.y),
                      static_cast<std::uint32_t>(d.z)};
  };
  vgpu::LaunchOptions options;
  options.grid = dim(launch.grid);
  options.block = dim(launch.block);
  options.dynamic_shared = launch.shared_bytes;
  const auto module = vgpu::Module::load(text, "mutant", memory);
  return vgpu::launch(*module->kernel(std::string(rung.entry) + "_f32"), options,
                      std::as_bytes(std::span(&gemm, 1)), memory, vgpu::parse_device("h200"));
}

/// The entry for f32 alone: its barriers are the ones to remove.
std::string_view entry_text(std::string_view text, const cuda::GemmRung& rung) {
  const std::size_t begin = text.find(".entry " + std::string(rung.entry) + "_f32");
  const std::size_t end = text.find(".entry ", begin + 1);
  return text.substr(begin, end == text.npos ? end : end - begin);
}

TEST(Mutation, EveryRemovedBarrierIsCaught) {
  int mutants = 0, caught = 0;
  for (const Rung& rung : rungs) {
    for (const cuda::Image& image : cuda::images()) {
      if (image.id != rung.id || image.code == cuda::Code::cubin) continue;
      const std::string text(image.data);
      const vgpu::LaunchReport whole = run(text, *rung.rung);
      for (const vgpu::Hazard& hazard : whole.hazards) {
        ADD_FAILURE() << rung.id << ", as it is: " << hazard.message;
      }
      const std::string_view entry = entry_text(image.data, *rung.rung);
      const std::size_t entry_at = static_cast<std::size_t>(entry.data() - image.data.data());
      for (const Statement& barrier : barriers(entry)) {
        std::string mutant = text;
        mutant.replace(entry_at + barrier.at, barrier.length, barrier.length, ' ');
        const bool found = !run(mutant, *rung.rung).hazards.empty();
        ++mutants;
        caught += found ? 1 : 0;
        EXPECT_TRUE(found) << rung.id << " without the barrier at " << entry_at + barrier.at;
      }
    }
  }
  EXPECT_GT(mutants, 0);
  std::printf("mutation score: %d of %d removed barriers caught\n", caught, mutants);
}

}  // namespace
}  // namespace rung
