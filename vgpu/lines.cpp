#include "vgpu/lines.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace rung::vgpu {
namespace {

bool is_global(SiteRole role) {
  return role == SiteRole::global_load || role == SiteRole::global_store ||
         role == SiteRole::global_atomic;
}

bool is_bulk(SiteRole role) { return role == SiteRole::bulk_load || role == SiteRole::bulk_store; }

bool is_shared(SiteRole role) {
  return role == SiteRole::shared_load || role == SiteRole::shared_store ||
         role == SiteRole::shared_atomic;
}

}  // namespace

LineCounters& LineCounters::operator+=(const LineCounters& other) {
  instructions += other.instructions;
  global_requests += other.global_requests;
  global_sectors += other.global_sectors;
  shared_requests += other.shared_requests;
  shared_wavefronts += other.shared_wavefronts;
  bulk_sectors += other.bulk_sectors;
  return *this;
}

void hot_first(std::vector<LineCounters>& lines) {
  std::sort(lines.begin(), lines.end(), [](const LineCounters& left, const LineCounters& right) {
    return std::tie(right.instructions, left.where) < std::tie(left.instructions, right.where);
  });
}

std::vector<LineCounters> by_line(const LaunchReport& report, const std::vector<Site>& sites) {
  std::map<std::string, LineCounters> lines;
  for (std::size_t i = 0; i < sites.size() && i < report.per_site.size(); ++i) {
    const SiteCounters& counters = report.per_site[i];
    LineCounters& line = lines[sites[i].where];
    line.where = sites[i].where;
    line.instructions += counters.executions;
    if (is_global(sites[i].role)) {
      line.global_requests += counters.executions;
      line.global_sectors += counters.units;
    } else if (is_shared(sites[i].role)) {
      line.shared_requests += counters.executions;
      line.shared_wavefronts += counters.units;
    } else if (is_bulk(sites[i].role)) {
      line.bulk_sectors += counters.units;
    }
  }
  std::vector<LineCounters> sorted;
  for (auto& [where, line] : lines) {
    if (line.instructions > 0) sorted.push_back(std::move(line));
  }
  hot_first(sorted);
  return sorted;
}

}  // namespace rung::vgpu
