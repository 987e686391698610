// Removes each barrier, and each wait for asynchronous copies, of each CUDA rung in turn. Every
// such mutant has a race, whether or not its numbers come out right, and the virtual GPU must say
// so. The rungs as they are must do the same in translated code as by the engine's handlers.

#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/cuda/kernel_name.hpp"
#include "backends/cuda/rungs.hpp"
#include "vgpu/launch.hpp"

namespace rung {
namespace {

// Of neither is a size a multiple of a tile, and there are several tiles in each direction. The
// first has odd sizes, the second lets 16-byte copies go, and the third those of A and B alone: a rung
// may have code of its own for each. Rungs for tensor cores have some for each layout of the operands
// as well.
struct Problem {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
  std::int64_t c_padding = 0;  // elements between rows of C
};
constexpr Problem problems[] = {{70, 45, 147, false, false},   {72, 72, 88, false, false},
                                {72, 72, 88, false, false, 1}, {72, 72, 88, true, false},
                                {72, 72, 88, false, true},     {72, 72, 88, true, true}};
// For rung 50, whose panels have 1024 steps: two of them in each part of k, with the long operand
// along k and across, in vectors and without.
constexpr Problem skinny_problems[] = {{5, 72, 2100, false, true},
                                       {5, 70, 2101, false, true},
                                       {5, 72, 2100, false, false},
                                       {5, 70, 2100, false, false}};
// Of k, where a rung can split it.
constexpr int parts = 2;

// Of dot: several blocks of each rung, as vectors and with a rest; with more pieces than can be on
// their way at once.
constexpr std::int64_t dot_lengths[] = {9001, 60001};
constexpr int multiprocessors = 2;

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
  if (rung.launches.f32 != nullptr) return Dtype::f32;
  return rung.launches.bf16 != nullptr ? Dtype::bf16 : Dtype::f64;
}

Dtype dtype_of(const cuda::DotRung&) { return Dtype::f32; }

std::span<const Problem> problems_of(const cuda::GemmRung& rung) {
  if (rung.entry == "gemm_cuda_50_skinny") return skinny_problems;
  return std::span(problems).first(dtype_of(rung) == Dtype::f32 ? 3 : std::size(problems));
}

/// The smallest tile.
int tile_of(const cuda::GemmRung& rung) {
  const auto tiles = tiles_of(rung, dtype_of(rung));
  return tiles.size() > 2 ? 2 : 0;
}

std::string entry_of(const cuda::GemmRung& rung) {
  return cuda::kernel_of({0, "", &rung, {.tile = tile_of(rung)}}, dtype_of(rung)).text();
}
std::string entry_of(const cuda::DotRung& rung) { return std::string(rung.entry) + "_f32"; }

/// What a launch did.
struct Outcome {
  std::vector<vgpu::Hazard> hazards;
  vgpu::Counters counters;
  std::vector<std::byte> contents;  // of all arrays, afterwards
};

enum class Code { native, handlers };

/// What a problem asks of the virtual GPU, with operands that are all ones.
class Setting {
 public:
  explicit Setting(Code code) : code_(code) {}

  template <class T>
  T* array(std::int64_t count, T value) {
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const std::uint64_t address = memory_.allocate(values.size() * sizeof(T));
    memory_.write(address, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  }

  /// Launches with parameters that lie one behind the other.
  template <class... Parameters>
  Outcome launch(const std::string& text, const std::string& entry, const cuda::Launch& launch,
                 const Parameters&... parameters) {
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
    const auto module = vgpu::Module::load(text, "mutant", memory_);
    const vgpu::LaunchReport report =
        vgpu::launch(*module->kernel(entry), options, bytes, memory_, vgpu::parse_device("h200"));
    return {report.hazards, report.counters, contents()};
  }

 private:
  std::vector<std::byte> contents() const {
    std::vector<std::byte> all;
    for (const vgpu::Allocation& allocation : memory_.live()) {
      all.resize(all.size() + allocation.bytes);
      memory_.read(&*(all.end() - static_cast<std::ptrdiff_t>(allocation.bytes)),
                   allocation.address, allocation.bytes);
    }
    return all;
  }

  Code code_;
  vgpu::DeviceMemory memory_{1 << 26};
};

template <class In, class Out>
Outcome run_gemm(const std::string& text, const cuda::GemmRung& rung, const Problem& problem,
                 int splits, Code code) {
  const auto& [m, n, k, a_transposed, b_transposed, c_padding] = problem;
  Setting setting(code);
  const auto matrix = [&](std::int64_t rows, std::int64_t cols, bool transposed) {
    const In* const data = setting.array(rows * cols, In(1.0f));
    return transposed ? Matrix<const In>{data, 1, rows} : Matrix<const In>{data, cols, 1};
  };
  const Gemm<In, Out> gemm{m,
                           n,
                           k,
                           Out{1},
                           matrix(m, k, a_transposed),
                           matrix(k, n, b_transposed),
                           Out{1},
                           {setting.array(m * (n + c_padding), Out{1}), n + c_padding, 1}};
  const cuda::GemmConfig config = {tile_of(rung), splits};
  const cuda::Launch launch = rung.launches.of<In, Out>()(gemm, config);
  const cuda::KernelArgs<In, Out> args = {
      gemm, {config.splits, config.whole, setting.array(launch.workspace_bytes / 4 + 1, 0.0f)}};
  return setting.launch(text, entry_of(rung), launch, args);
}

Outcome run(const std::string& text, const cuda::DotRung& rung, std::int64_t n,
            Code code = Code::native) {
  Setting setting(code);
  const Dot<float> dot{n, setting.array(n + 1, 1.0f), 1, setting.array(n + 1, 1.0f), 1};
  const auto& [launch, finish, sums] = rung.launches.f32(dot, multiprocessors);
  const cuda::DotTarget target = {setting.array(sums + 1, 0.0f),
                                  setting.array(launch.workspace_bytes / 4 + 1, 0.0f)};
  return setting.launch(text, entry_of(rung), launch, dot, target);
}

Outcome run(const std::string& text, const cuda::GemmRung& rung, const Problem& problem, int splits,
            Code code) {
  switch (dtype_of(rung)) {
    case Dtype::f32: return run_gemm<float, float>(text, rung, problem, splits, code);
    case Dtype::f64: return run_gemm<double, double>(text, rung, problem, splits, code);
    default: return run_gemm<bfloat16, float>(text, rung, problem, splits, code);
  }
}

/// With split-K, if the rung has it, and then, unless that has hazards, without.
Outcome run(const std::string& text, const cuda::GemmRung& rung, const Problem& problem,
            Code code = Code::native) {
  if (rung.splits) {
    const Outcome outcome = run(text, rung, problem, parts, code);
    if (!outcome.hazards.empty()) return outcome;
  }
  return run(text, rung, problem, 1, code);
}

/// The text without its other entries, which would only take time to read.
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
};

/// Of a rung's text, how many removed barriers no observer can see (docs/virtual-gpu.md, "Limits").
std::size_t unseen(std::string_view id) {
  // One orders a block's atomic additions before the count of blocks that the last block reads them
  // by: plain accesses beside atomics are not reported.
  if (id == "dot/cuda/12_reproducible") return 1;
  // One for each layout orders a warp's reads before its first lane's arrival at an mbarrier: that
  // counts as an arrival of the whole warp.
  return id == "gemm/cuda/41_mma_f64_warp_roles" ? 4 : 0;
}

/// Mutates every text of one rung, each mutant run on the problems until one is caught.
template <class Rung, class Problems>
void mutate(std::string_view id, const Rung& rung, const Problems& problems_of_op, Score& score) {
  for (const cuda::Image& image : cuda::images()) {
    if (image.id != id || image.code == cuda::Code::cubin) continue;
    const std::string text =
        with_one_entry(std::string(cuda::unpacked(image.unit(dtype_of(rung)))), entry_of(rung));
    for (const auto& problem : problems_of_op) {
      const Outcome native = run(text, rung, problem);
      for (const vgpu::Hazard& hazard : native.hazards) {
        ADD_FAILURE() << id << ", as it is: " << hazard.message;
      }
      const Outcome handlers = run(text, rung, problem, Code::handlers);
      EXPECT_TRUE(native.contents == handlers.contents) << id;
      EXPECT_TRUE(native.counters == handlers.counters) << id;
    }
    std::string missed;
    std::size_t missed_count = 0;
    for (const Statement& statement : synchronisations(text)) {
      std::string mutant = text;
      mutant.replace(statement.at, statement.length, statement.length, ' ');
      bool found = false;
      for (const auto& problem : problems_of_op) {
        found = found || !run(mutant, rung, problem).hazards.empty();
      }
      ++score.mutants;
      score.caught += found ? 1 : 0;
      if (found) continue;
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
    if (rung->maps) continue;  // async_mutation_test.cpp
    mutate(id, *rung, problems_of(*rung), score);
  }
  for (const auto& [id, rung] : cuda::dot_rungs) {
    // The same code as the dot product's, over fewer terms.
    if (id.starts_with("dot/")) mutate(id, *rung, dot_lengths, score);
  }
  EXPECT_GT(score.mutants, 0);
  std::printf("mutation score: %d of %d removed barriers and waits caught\n", score.caught,
              score.mutants);
}

}  // namespace
}  // namespace rung
