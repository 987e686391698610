// Removes each barrier, and each wait for asynchronous copies, of each CUDA rung in turn. Every
// such mutant has a race, whether or not its numbers come out right, and the virtual GPU must say
// so.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/cuda/rungs.hpp"
#include "vgpu/launch.hpp"

namespace rung {
namespace {

// Of neither is a size a multiple of a tile, and there are several tiles in each direction. The
// first has odd sizes, the second lets 16-byte copies go: a rung may have code of its own for
// either. Rungs for tensor cores have some for each layout of the operands as well.
struct Problem {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
};
constexpr Problem problems[] = {{70, 45, 147, false, false},
                                {72, 72, 88, false, false},
                                {72, 72, 88, true, false},
                                {72, 72, 88, false, true},
                                {72, 72, 88, true, true}};
// Of k, where a rung can split it.
constexpr int parts = 2;

/// Where the statements that begin with one of the words are in the text: begin and length.
struct Statement {
  std::size_t at, length;
};
std::vector<Statement> synchronisations(std::string_view text) {
  std::vector<Statement> found;
  for (const std::string_view word :
       {"bar.sync", "barrier.sync", "bar.warp.sync", "cp.async.wait_group"}) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      found.push_back({at, text.find(';', at) + 1 - at});
    }
  }
  return found;
}

/// f32, or what a rung for tensor cores has.
Dtype dtype_of(const cuda::GemmRung& rung) {
  return rung.launches.f32 != nullptr ? Dtype::f32 : Dtype::bf16;
}

std::span<const Problem> problems_of(const cuda::GemmRung& rung) {
  return std::span(problems).first(dtype_of(rung) == Dtype::f32 ? 2 : std::size(problems));
}

/// The smallest tile.
int tile_of(const cuda::GemmRung& rung) {
  const auto tiles = tiles_of(rung, dtype_of(rung));
  return tiles.size() > 2 ? 2 : 0;
}

std::string entry_of(const cuda::GemmRung& rung) {
  return entry_name(rung, dtype_of(rung), tile_of(rung));
}

/// The hazards of one launch.
template <class In, class Out>
std::vector<vgpu::Hazard> run(const std::string& text, const cuda::GemmRung& rung,
                              const Problem& problem) {
  const auto& [m, n, k, a_transposed, b_transposed] = problem;
  vgpu::DeviceMemory memory(1 << 26);
  const auto array = [&]<class T>(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  };
  const auto matrix = [&](std::int64_t rows, std::int64_t cols, bool transposed) {
    const In* const data = array(rows * cols, In(1.0f));
    return transposed ? Matrix<const In>{data, 1, rows} : Matrix<const In>{data, cols, 1};
  };
  const Gemm<In, Out> gemm{m,
                           n,
                           k,
                           Out{1},
                           matrix(m, k, a_transposed),
                           matrix(k, n, b_transposed),
                           Out{1},
                           {array(m * n, Out{1}), n, 1}};
  const cuda::GemmPlan plan = {tile_of(rung), rung.splits ? parts : 1};
  const cuda::Launch launch = rung.launches.of<In>()(gemm, plan);
  const cuda::Split split = {plan.splits, array(launch.workspace_bytes / 4 + 1, 0.0f)};

  std::array<std::byte, sizeof gemm + sizeof split> parameters;
  std::memcpy(parameters.data(), &gemm, sizeof gemm);
  std::memcpy(parameters.data() + sizeof gemm, &split, sizeof split);
  const auto dim = [](const cuda::Dim3& d) {
    return vgpu::Dim3{static_cast<std::uint32_t>(d.x), static_cast<std::uint32_t>(d.y),
                      static_cast<std::uint32_t>(d.z)};
  };
  vgpu::LaunchOptions options;
  options.grid = dim(launch.grid);
  options.block = dim(launch.block);
  options.dynamic_shared = launch.shared_bytes;
  const auto module = vgpu::Module::load(text, "mutant", memory);
  const std::size_t bytes = rung.splits ? parameters.size() : sizeof gemm;
  return vgpu::launch(*module->kernel(entry_of(rung)), options, std::span(parameters).first(bytes),
                      memory, vgpu::parse_device("h200"))
      .hazards;
}

std::vector<vgpu::Hazard> run(const std::string& text, const cuda::GemmRung& rung,
                              const Problem& problem) {
  return dtype_of(rung) == Dtype::f32 ? run<float, float>(text, rung, problem)
                                      : run<bfloat16, float>(text, rung, problem);
}

/// The text of the entry alone: its statements are the ones to remove.
std::string_view entry_text(std::string_view text, const cuda::GemmRung& rung) {
  const std::size_t begin = text.find(".entry " + entry_of(rung) + "(");
  const std::size_t end = text.find(".entry ", begin + 1);
  return text.substr(begin, end == text.npos ? end : end - begin);
}

TEST(Mutation, EveryRemovedSynchronisationIsCaught) {
  int mutants = 0, caught = 0;
  for (const auto& [id, rung] : cuda::gemm_rungs) {
    if (rung->maps) continue;  // the driver encodes them, and there is none here
    for (const cuda::Image& image : cuda::images()) {
      if (image.id != id || image.code == cuda::Code::cubin) continue;
      const std::string text(image.data);
      for (const Problem& problem : problems_of(*rung)) {
        for (const vgpu::Hazard& hazard : run(text, *rung, problem)) {
          ADD_FAILURE() << id << ", as it is: " << hazard.message;
        }
      }
      const std::string_view entry = entry_text(image.data, *rung);
      const std::size_t entry_at = static_cast<std::size_t>(entry.data() - image.data.data());
      for (const Statement& statement : synchronisations(entry)) {
        std::string mutant = text;
        mutant.replace(entry_at + statement.at, statement.length, statement.length, ' ');
        bool found = false;
        for (const Problem& problem : problems_of(*rung)) {
          found = found || !run(mutant, *rung, problem).empty();
        }
        ++mutants;
        caught += found ? 1 : 0;
        EXPECT_TRUE(found) << id << " without "
                           << text.substr(entry_at + statement.at, statement.length) << " at "
                           << entry_at + statement.at;
      }
    }
  }
  EXPECT_GT(mutants, 0);
  std::printf("mutation score: %d of %d removed barriers and waits caught\n", caught, mutants);
}

}  // namespace
}  // namespace rung
