#include "tools/analysis/rung_trace/drawn_access.hpp"

#include <fmt/format.h>

#include <set>

namespace rung {
namespace {

std::string kind_of(const vgpu::WarpAccess& access, const vgpu::Site& site) {
  const bool is_atomic =
      site.role == vgpu::SiteRole::global_atomic || site.role == vgpu::SiteRole::shared_atomic;
  return fmt::format("{} {}", access.shared ? "shared" : "global",
                     is_atomic     ? "atomic"
                     : access.load ? "load"
                                   : "store");
}

}  // namespace

std::string place_of(const vgpu::Site& site) {
  return site.where.substr(site.where.rfind('/') + 1);
}

std::string full_place(const std::string& line, const std::string& file) {
  if (line.empty() || line.find(':') != std::string::npos) return line;
  return fmt::format("{}:{}", file, line);
}

std::optional<DrawnAccess> worst_access(
    const std::vector<vgpu::WarpAccess>& accesses, const std::vector<vgpu::Site>& sites,
    const std::function<bool(const vgpu::WarpAccess& access)>& is) {
  const vgpu::WarpAccess* worst = nullptr;
  for (const vgpu::WarpAccess& access : accesses) {
    if (!is(access)) continue;
    if (worst == nullptr || waste(access) > waste(*worst)) worst = &access;
  }
  if (worst == nullptr) return std::nullopt;
  const vgpu::Site& site = sites[worst->site];
  const std::string place = place_of(site);
  return DrawnAccess{kind_of(*worst, site),
                     fmt::format("{}{}{}", place, place.empty() ? "" : ", ", site.mnemonic),
                     *worst};
}

std::optional<DrawnAccess> worst_access(const std::vector<vgpu::WarpAccess>& accesses,
                                        const std::vector<vgpu::Site>& sites,
                                        const std::string& place) {
  return worst_access(accesses, sites, [&](const vgpu::WarpAccess& access) {
    return place.empty() || place_of(sites[access.site]) == place;
  });
}

std::vector<std::string> places_of(const std::vector<vgpu::WarpAccess>& accesses,
                                   const std::vector<vgpu::Site>& sites) {
  std::set<std::string> places;
  for (const vgpu::WarpAccess& access : accesses) places.insert(place_of(sites[access.site]));
  places.erase("");
  return {places.begin(), places.end()};
}

}  // namespace rung
