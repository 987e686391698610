// Removes each barrier, and each wait for asynchronous copies, of each CUDA rung in turn. Every
// such mutant has a race, even if its results are right, and the virtual GPU must report it. The
// unchanged rungs must behave the same in translated code as with the engine's handlers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/integers.hpp"
#include "rung/types.hpp"
#include "sample.hpp"
#include "vgpu/launch.hpp"

namespace rung {
namespace {

// No size is a multiple of a tile, and there are several tiles in each direction. The first problem
// has odd sizes, the second allows 16-byte copies, and the third allows them only for A and B: a
// rung may have separate code for each. Rungs for tensor cores also have code for each layout of
// the operands.
struct Problem {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
  std::int64_t c_padding = 0;  // elements between rows of C
  std::int64_t a_padding = 0;  // elements between rows, or columns, of A
};
constexpr Problem problems[] = {{70, 45, 147, false, false},   {72, 72, 88, false, false},
                                {72, 72, 88, false, false, 1}, {72, 72, 88, true, false},
                                {72, 72, 88, false, true},     {72, 72, 88, true, true}};
// For fma_tiles, which also has separate code for K-major operands.
constexpr Problem k_major_problems[] = {{70, 45, 147, false, false},   {72, 72, 88, false, false},
                                        {72, 72, 88, false, false, 1}, {72, 72, 88, true, false},
                                        {72, 72, 88, true, false, 1},  {70, 45, 147, false, true},
                                        {72, 72, 88, false, true},     {72, 72, 88, true, true}};
// For skinny, whose panels have 1024 steps: two panels in each split of k, with the long operand
// K-major and MN-major, with and without vector loads.
constexpr Problem skinny_problems[] = {{5, 72, 2300, false, true},
                                       {5, 70, 2301, false, true},
                                       {5, 72, 2300, false, false},
                                       {5, 70, 2300, false, false}};
// For skinny_mma, whose panels have 1024 steps of A: three in each split of k. B has vectors along k
// and across, words and elements. Asynchronous copies need aligned rows of A.
constexpr Problem skinny_mma_problems[] = {{5, 72, 4200, false, true},
                                           {5, 70, 4202, false, true, 0, 6},
                                           {5, 71, 4201, false, true, 0, 7},
                                           {5, 72, 4200, false, false},
                                           {5, 70, 4200, false, false}};
// For batched_tiles: enough k-blocks that copies beyond the last one overlap the staging area of the
// results.
constexpr Problem staged_problems[] = {{70, 45, 147, false, false},
                                       {72, 72, 88, false, false},
                                       {70, 45, 75, false, false},
                                       {72, 72, 80, false, false, 1}};
// Number of splits of k, if the rung supports split-K.
constexpr int parts = 2;

// For dot: several blocks of each rung, as vectors and with a remainder, and with more pieces than
// can be in flight at once.
constexpr std::int64_t dot_lengths[] = {9001, 60001};
constexpr int multiprocessors = 2;

/// Position and length of a statement that begins with one of the words.
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

/// f32, or the type of a rung for tensor cores.
Dtype dtype_of(const cuda::GemmRung& rung) {
  if (rung.launches.f32 != nullptr) return Dtype::f32;
  return rung.launches.bf16 != nullptr ? Dtype::bf16 : Dtype::f64;
}

Dtype dtype_of(const cuda::DotRung&) { return Dtype::f32; }

/// A rung's kernel for tiles of one size.
struct TiledRung {
  const cuda::GemmRung& rung;
  int tile;
};

std::span<const Problem> problems_of(const cuda::GemmRung& rung) {
  if (rung.entry == "gemm_cuda_skinny") return skinny_problems;
  if (rung.entry == "gemm_cuda_skinny_mma") return skinny_mma_problems;
  if (rung.entry == "gemm_cuda_batched_tiles") return staged_problems;
  if (rung.entry == "gemm_cuda_fma_tiles") return k_major_problems;
  return std::span(problems).first(dtype_of(rung) == Dtype::f32 ? 3 : std::size(problems));
}

/// The smallest tile. For fma_tiles also 32 x 64, which copies rows of K-major operands; for any_operands
/// also 64 x 128, which does not prefetch.
std::vector<int> mutated_tiles(const cuda::GemmRung& rung) {
  if (rung.entry == "gemm_cuda_fma_tiles") return {2, 3};
  if (rung.entry == "gemm_cuda_any_operands") return {0, 1};
  const auto tiles = tiles_of(rung, dtype_of(rung));
  return {tiles.size() > 2 ? 2 : 0};
}

Dtype dtype_of(const TiledRung& tiled) { return dtype_of(tiled.rung); }

std::string entry_of(const TiledRung& tiled) {
  return cuda::kernel_of({0, "", &tiled.rung, {.tile = tiled.tile}}, dtype_of(tiled)).text();
}
std::string entry_of(const cuda::DotRung& rung) { return std::string(rung.entry) + "_f32"; }

/// The outcome of a launch.
struct Outcome {
  std::vector<vgpu::Hazard> hazards;
  vgpu::Counters counters;
};

enum class Code { native, handlers };

/// One loaded entry of a text, and its operands, which are all ones.
class Program {
 public:
  Program(const std::string& text, const std::string& entry, Code code = Code::native)
      : module_(vgpu::Module::load(text, "mutant", memory_)),
        kernel_(*module_->kernel(entry)),
        code_(code) {}

  template <class T>
  T* array(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory_.allocate(values.size() * sizeof(T));
    memory_.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  }

  template <class T>
  void write(T* array, const std::vector<T>& values) {
    memory_.write(reinterpret_cast<std::uint64_t>(array), values.data(), values.size() * sizeof(T));
  }

  /// Launches with these parameters, stored consecutively.
  template <class... Parameters>
  Outcome launch(const cuda::Launch& launch, const Parameters&... parameters) {
    std::vector<std::byte> bytes;
    const auto append = [&](const auto& parameter) {
      const auto* const begin = reinterpret_cast<const std::byte*>(&parameter);
      bytes.insert(bytes.end(), begin, begin + sizeof parameter);
    };
    (append(parameters), ...);
    const auto dim = [](const cuda::Dim3& d) {
      return vgpu::Dim3{static_cast<std::uint32_t>(d.x), static_cast<std::uint32_t>(d.y),
                        static_cast<std::uint32_t>(d.z)};
    };
    vgpu::LaunchOptions options;
    options.grid = dim(launch.grid);
    options.block = dim(launch.block);
    options.dynamic_shared = launch.shared_bytes;
    options.native = code_ == Code::native;
    const vgpu::LaunchReport report =
        vgpu::launch(kernel_, options, bytes, memory_, vgpu::parse_device("h200"));
    return {report.hazards, report.counters};
  }

  /// The contents of all arrays.
  std::vector<std::byte> contents() const {
    std::vector<std::byte> all;
    for (const vgpu::Allocation& allocation : memory_.live()) {
      all.resize(all.size() + allocation.bytes);
      memory_.read(&*(all.end() - static_cast<std::ptrdiff_t>(allocation.bytes)),
                   allocation.address, allocation.bytes);
    }
    return all;
  }

 private:
  vgpu::DeviceMemory memory_{1 << 26};
  std::unique_ptr<vgpu::Module> module_;
  const vgpu::Kernel& kernel_;
  Code code_;
};

/// True if its kernels for batches also compute ragged groups (tile/ragged_tile.cuh).
bool has_ragged_groups(const cuda::GemmRung& rung) {
  return rung.entry == "gemm_cuda_small_mma" || rung.entry == "gemm_cuda_batched_tiles" ||
         rung.entry == "gemm_cuda_batched_mma_f64";
}

/// Converts the launch of one product to two groups of its rows.
cuda::Products two_groups(Program& program, const TiledRung& tiled, const Problem& problem,
                          cuda::Launch& launch) {
  const auto tiles = tiles_of(tiled.rung, dtype_of(tiled));
  const auto tile = static_cast<std::size_t>(tiled.tile);
  const int BN = tiles.empty() ? tiled.rung.tiling.BN : tiles[tile].BN;
  const std::int64_t cols = ceil_div(problem.n, BN);
  launch.grid.x = ceil_div(launch.grid.x / cols + 2, launch.products_per_block) * cols;
  std::int32_t* const offsets = program.array(3, static_cast<std::int32_t>(problem.m));
  program.write(offsets, {0, static_cast<std::int32_t>(problem.m / 3)});
  cuda::Products products;
  products.count = 2;
  products.offsets = offsets;
  return products;
}

template <class In, class Out>
Outcome run_gemm(Program& program, const TiledRung& tiled, const Problem& problem, int splits,
                 bool as_groups) {
  const auto& [m, n, k, a_transposed, b_transposed, c_padding, a_padding] = problem;
  const auto matrix = [&](std::int64_t rows, std::int64_t cols, bool transposed,
                          std::int64_t padding = 0) {
    const std::int64_t ld = (transposed ? rows : cols) + padding;
    const In* const data = program.array(ld * (transposed ? cols : rows), In(1.0f));
    return transposed ? Matrix<const In>{data, 1, ld} : Matrix<const In>{data, ld, 1};
  };
  const Gemm<In, Out> gemm{m,
                           n,
                           k,
                           Out{1},
                           matrix(m, k, a_transposed, a_padding),
                           matrix(k, n, b_transposed),
                           Out{1},
                           {program.array(m * (n + c_padding), Out{1}), n + c_padding, 1}};
  const cuda::GemmConfig config = {tiled.tile, splits};
  cuda::Launch launch = tiled.rung.launches.of<In, Out>()(gemm, config);
  cuda::KernelArgs<In, Out> args = {
      gemm, {config.splits, config.whole, program.array(launch.workspace_bytes / 4 + 1, 0.0f)}};
  if (as_groups) args.products = two_groups(program, tiled, problem, launch);
  return program.launch(launch, args);
}

Outcome run(Program& program, const cuda::DotRung& rung, std::int64_t n) {
  const Dot<float> dot{n, program.array(n + 1, 1.0f), 1, program.array(n + 1, 1.0f), 1};
  const auto& [launch, finish, sums] = rung.launches.f32(dot, multiprocessors);
  const cuda::DotTarget target = {program.array(sums + 1, 0.0f),
                                  program.array(launch.workspace_bytes / 4 + 1, 0.0f)};
  return program.launch(launch, dot, target);
}

Outcome run(Program& program, const TiledRung& tiled, const Problem& problem, int splits,
            bool as_groups = false) {
  switch (dtype_of(tiled)) {
    case Dtype::f32: return run_gemm<float, float>(program, tiled, problem, splits, as_groups);
    case Dtype::f64: return run_gemm<double, double>(program, tiled, problem, splits, as_groups);
    default: return run_gemm<bfloat16, float>(program, tiled, problem, splits, as_groups);
  }
}

/// Runs with split-K, or as groups, if the rung supports it; then, unless that has hazards,
/// without.
Outcome run(Program& program, const TiledRung& tiled, const Problem& problem) {
  if (tiled.rung.splits) {
    const Outcome outcome = run(program, tiled, problem, parts);
    if (!outcome.hazards.empty()) return outcome;
  }
  if (has_ragged_groups(tiled.rung)) {
    const Outcome outcome = run(program, tiled, problem, 1, true);
    if (!outcome.hazards.empty()) return outcome;
  }
  return run(program, tiled, problem, 1);
}

/// Removes the other entries from a text, because parsing them takes time.
std::string with_one_entry(std::string text, const std::string& entry) {
  const std::string_view start = ".visible .entry ", end = "\n}\n";
  std::size_t at = 0;
  while ((at = text.find(start, at)) != text.npos) {
    const std::size_t after = text.find(end, at) + end.size();
    if (text.compare(at + start.size(), entry.size() + 1, entry + "(") == 0) {
      at = after;
    } else {
      text.erase(at, after - at);
    }
  }
  return text;
}

struct Score {
  int mutants = 0, caught = 0;
  Sample sample = {};  // of the rungs' texts
};

/// The number of removed barriers that no observer can detect (docs/virtual-gpu.md, "Limits").
std::size_t unseen(std::string_view id) {
  // One orders a block's atomic additions before the count of blocks that the last block reads them
  // by: plain accesses beside atomics are not reported.
  if (id == "dot/cuda/reproducible") return 1;
  // One for each layout orders a warp's reads before its first lane's arrival at an mbarrier: that
  // counts as an arrival of the whole warp.
  return id == "gemm/cuda/mma_f64_warp_specialized" ? 4 : 0;
}

/// Expects that the unchanged rung has no hazards, and behaves the same in translated code as with
/// handlers.
template <class Rung, class Problems>
void expect_right(std::string_view id, const Rung& rung, const std::string& text,
                  const Problems& problems_of_op) {
  Program native(text, entry_of(rung)), handlers(text, entry_of(rung), Code::handlers);
  for (const auto& problem : problems_of_op) {
    const Outcome outcome = run(native, rung, problem);
    for (const vgpu::Hazard& hazard : outcome.hazards) {
      ADD_FAILURE() << id << ", as it is: " << hazard.message;
    }
    EXPECT_TRUE(outcome.counters == run(handlers, rung, problem).counters) << id;
    EXPECT_TRUE(native.contents() == handlers.contents()) << id;
  }
}

/// Mutates every text of one rung. Runs each mutant on the problems until one is caught.
template <class Rung, class Problems>
void mutate(std::string_view id, const Rung& rung, const Problems& problems_of_op, Score& score) {
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != id || image.code == cuda::Code::cubin || !score.sample.has_next()) continue;
    const std::string text =
        with_one_entry(std::string(cuda::unpacked(image.unit(dtype_of(rung)))), entry_of(rung));
    expect_right(id, rung, text, problems_of_op);
    std::vector order(std::begin(problems_of_op), std::end(problems_of_op));
    std::string missed;
    std::size_t missed_count = 0;
    for (const Statement& statement : synchronisations(text)) {
      std::string mutant = text;
      mutant.replace(statement.at, statement.length, statement.length, ' ');
      Program program(mutant, entry_of(rung));
      const auto catches = std::find_if(order.begin(), order.end(), [&](const auto& problem) {
        return !run(program, rung, problem).hazards.empty();
      });
      ++score.mutants;
      if (catches != order.end()) {
        ++score.caught;
        // The next statement is probably in the same part of the code.
        std::rotate(order.begin(), catches, catches + 1);
        continue;
      }
      ++missed_count;
      missed += text.substr(statement.at, statement.length) + " at " +
                std::to_string(statement.at) + "\n";
    }
    EXPECT_LE(missed_count, unseen(id)) << id << " without\n" << missed;
  }
}

TEST(Mutation, EveryRemovedSynchronisationIsCaught) {
  Score score;
  for (const auto& [id, rung] : cuda::gemm_rungs) {
    if (rung->maps) continue;                         // async_mutation_test.cpp
    if (!cuda::multiplies_operands(*rung)) continue;  // weight_only_mutation_test.cpp
    for (const int tile : mutated_tiles(*rung)) {
      mutate(id, TiledRung{*rung, tile}, problems_of(*rung), score);
    }
  }
  for (const auto& [id, rung] : cuda::dot_rungs) {
    // Other operations have the same code as the dot product, with fewer terms.
    if (id.starts_with("dot/")) mutate(id, *rung, dot_lengths, score);
  }
  EXPECT_GT(score.mutants, 0);
  std::printf("mutation score: %d of %d removed barriers and waits caught\n", score.caught,
              score.mutants);
}

}  // namespace
}  // namespace rung
