#include "tools/learn/solution_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tools/learn/experiments.hpp"
#include "tools/learn/kernel_form.hpp"

namespace rung::learn {
namespace {

using vgpu::Party;

std::uint64_t linear(const std::uint32_t (&at)[3], const vgpu::Dim3& extents) {
  return at[0] + std::uint64_t{extents.x} * (at[1] + std::uint64_t{extents.y} * at[2]);
}

/// The elements of the results that each of the solution's threads stores or, for vectors, whether
/// it accesses global memory at all.
using Work = std::map<ThreadIndex, std::set<std::uint64_t>>;

Work work_of_threads(const Failure& failure, const Code& solution) {
  const bool is_vector = failure.code.form.is_vector;
  std::vector<vgpu::WarpAccess> accesses;
  const Run run = Trial(solution).run(failure.size, [&](const vgpu::WarpAccess& access) {
    if (!access.shared && (is_vector || !access.load)) accesses.push_back(access);
  });
  const std::uint64_t bytes = std::uint64_t{4} * static_cast<std::uint64_t>(failure.size.m) *
                              static_cast<std::uint64_t>(failure.size.n);
  Work found;
  for (const vgpu::WarpAccess& access : accesses) {
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t offset = access.address[lane] - run.result;
      if ((access.lanes >> lane & 1) == 0 || (!is_vector && offset >= bytes)) continue;
      found[{access.block, static_cast<std::uint64_t>(access.warp) * 32 + lane}].insert(offset / 4);
    }
  }
  return found;
}

/// The solution's threads, if the failing launch has the same grid and block.
struct Comparison {
  LaunchShape shape;
  Work work;

  const std::set<std::uint64_t>* of(const Party& party) const {
    const auto found =
        work.find({linear(party.block, shape.grid), linear(party.thread, shape.block)});
    return found == work.end() ? nullptr : &found->second;
  }
};

std::optional<Comparison> compared(const Failure& failure) {
  const Code solution = compile_solution(failure.exercise);
  const LaunchShape own = Trial(failure.code).launch_shape(failure.size);
  const LaunchShape shape = Trial(solution).launch_shape(failure.size);
  if (!(own.grid == shape.grid && own.block == shape.block)) return std::nullopt;
  return Comparison{shape, work_of_threads(failure, solution)};
}

}  // namespace

bool is_outside(const Failure& failure, std::initializer_list<const Party*> parties) {
  const auto comparison = compared(failure);
  return comparison && std::ranges::any_of(parties, [&](const Party* party) {
           return comparison->of(*party) == nullptr;
         });
}

std::optional<Cause> wrong_store(const Failure& failure, const Party& party) {
  if (failure.element == nullptr || failure.element->array != "c") return std::nullopt;
  const auto comparison = compared(failure);
  const auto* const own = comparison ? comparison->of(party) : nullptr;
  if (own == nullptr || own->size() != 1) return std::nullopt;
  const auto [m, n, k] = failure.size;
  const auto should = static_cast<std::int64_t>(*own->begin());
  const std::int64_t row = should / n, column = should % n, is = failure.element->element;
  if (is == should) return std::nullopt;
  const std::string text = fmt::format("{} has C[{}][{}], which is c[{}], and not c[{}]",
                                       name_of(party), row, column, should, is);
  if (is == column * n + row || is == column * m + row) return Cause{"wrong/transposed_c", text};
  if (is == row * m + column || is == row * k + column) return Cause{"wrong/length_c", text};
  return std::nullopt;
}

std::optional<ThreadIndex> idle_thread(const Failure& failure) {
  const auto storing = [&](const Code& code) {
    std::set<ThreadIndex> threads;
    (void)Trial(code).run(failure.size, [&](const vgpu::WarpAccess& access) {
      if (access.shared || access.load) return;
      for (std::uint64_t lane = 0; lane < 32; ++lane) {
        if ((access.lanes >> lane & 1) == 0) continue;
        threads.insert({access.block, static_cast<std::uint64_t>(access.warp) * 32 + lane});
      }
    });
    return threads;
  };
  const Code solution = compile_solution(failure.exercise);
  const LaunchShape own = Trial(failure.code).launch_shape(failure.size);
  const LaunchShape of = Trial(solution).launch_shape(failure.size);
  if (!(own.grid == of.grid && own.block == of.block)) return std::nullopt;
  const std::set<ThreadIndex> stores = storing(failure.code), of_solution = storing(solution);
  if (!std::ranges::includes(of_solution, stores)) return std::nullopt;
  std::set<std::uint64_t> blocks;
  for (const ThreadIndex& thread : stores) blocks.insert(thread.block);
  for (const ThreadIndex& thread : of_solution) {
    if (blocks.contains(thread.block) && !stores.contains(thread)) return thread;
  }
  return std::nullopt;
}

}  // namespace rung::learn
