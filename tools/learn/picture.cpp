#include "tools/learn/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tools/learn/compile.hpp"
#include "tools/learn/text.hpp"
#include "tools/learn/trial.hpp"

namespace rung::learn {
namespace {

struct Accesses {
  std::vector<vgpu::WarpAccess> of_first_warp;  // of the first block, each instruction once
  std::vector<vgpu::WarpAccess> stores;         // of all warps to global memory
};

bool is_known(const std::vector<vgpu::WarpAccess>& all, const vgpu::WarpAccess& access) {
  return std::ranges::any_of(all, [&](const vgpu::WarpAccess& known) {
    return known.site == access.site && known.shared == access.shared;
  });
}

/// The number of the first line, other than a comment, that contains the text; the first line is 1.
std::size_t line_with(const std::string& text, const std::string& part) {
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const bool is_comment = line.starts_with("//");
    if (!is_comment && line.find(part) != line.npos) return number;
  }
  throw std::invalid_argument(fmt::format("picture: no line contains '{}'", part));
}

}  // namespace

Picture picture_of(const Exercise& exercise) {
  const std::string text = solution_text(exercise);
  Trial trial(compile_solution(exercise));

  Accesses accesses;
  const Run run = trial.run(exercise.counted, [&](const vgpu::WarpAccess& access) {
    if (!access.shared && !access.load) accesses.stores.push_back(access);
    if (access.block != 0 || access.warp != 0 || is_known(accesses.of_first_warp, access)) return;
    accesses.of_first_warp.push_back(access);
  });
  if (exercise.picture == "tile") {
    const Size& size = exercise.counted;
    const auto tile =
        tile_map(accesses.stores, {run.result, size.m, size.n, size.n, sizeof(float)});
    if (!tile) throw std::invalid_argument("picture: nothing is stored to C");
    return *tile;
  }
  const auto drawn = worst_access(
      accesses.of_first_warp, trial.kernel_sites(),
      fmt::format("{}:{}", solution_name(exercise), line_with(text, exercise.picture)));
  if (!drawn) throw std::invalid_argument("picture: no access at " + exercise.picture);
  return *drawn;
}

}  // namespace rung::learn
