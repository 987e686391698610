#include "tools/kernel_file/nearest_name.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace rung {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::vector<std::size_t>> at(left.size() + 1,
                                           std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        at[i][j] = i + j;
        continue;
      }
      const bool is_same = lower(left[i - 1]) == lower(right[j - 1]);
      at[i][j] =
          std::min({at[i - 1][j] + 1, at[i][j - 1] + 1, at[i - 1][j - 1] + (is_same ? 0 : 1)});
      const bool is_swapped = i > 1 && j > 1 && lower(left[i - 1]) == lower(right[j - 2]) &&
                              lower(left[i - 2]) == lower(right[j - 1]);
      if (is_swapped) at[i][j] = std::min(at[i][j], at[i - 2][j - 2] + 1);
    }
  }
  return at[left.size()][right.size()];
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::size_t most = std::min<std::size_t>(2, name.size() / 3);
  std::string_view nearest;
  std::size_t least = most + 1;
  for (const std::string_view candidate : known) {
    const std::size_t difference = distance(name, candidate);
    if (difference >= least) continue;
    least = difference;
    nearest = candidate;
  }
  if (least > most) return "";
  return std::string("; did you mean '").append(nearest).append("'?");
}

}  // namespace rung
