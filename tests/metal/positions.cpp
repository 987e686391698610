#include "positions.hpp"

#include <regex>
#include <set>

namespace rung::metal_tests {

std::vector<std::string> kernels_with_unlike_positions(const std::string& source) {
  static const std::regex kernel(R"(\bkernel void (\w+)\(([^{]*)\{)");
  static const std::regex position(
      R"(\b(u(?:int|short))([23]?)\s+(\w+)\s*\[\[\s*)"
      R"((?:thread_position_in_grid|thread_position_in_threadgroup|threads_per_grid|)"
      R"(threads_per_threadgroup|threadgroup_position_in_grid|threadgroups_per_grid)\s*\]\])");
  std::vector<std::string> found;
  for (std::sregex_iterator one(source.begin(), source.end(), kernel), end; one != end; ++one) {
    const std::string parameters = (*one)[2];
    std::set<std::string> extents;
    std::string all;
    for (std::sregex_iterator at(parameters.begin(), parameters.end(), position); at != end; ++at) {
      extents.insert((*at)[2]);
      all += (all.empty() ? "" : ", ") + (*at)[1].str() + (*at)[2].str() + " " + (*at)[3].str();
    }
    if (extents.size() > 1) found.push_back((*one)[1].str() + ": " + all);
  }
  return found;
}

}  // namespace rung::metal_tests
