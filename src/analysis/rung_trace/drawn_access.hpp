#pragma once
// Which access is worth a picture.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/rung_trace/access_recorder.hpp"
#include "vgpu/launch.hpp"

namespace rung {

struct DrawnAccess {
  std::string what;   // "global load"
  std::string where;  // "00_naive.cu:28, ld.global.f32"
  vgpu::WarpAccess access;
};

/// The place of an instruction without its folders: "00_naive.cu:28"; empty if it is not known.
std::string place_of(const vgpu::Site& site);
/// "28" is "00_naive.cu:28" in that file; what names a file stays.
std::string full_place(const std::string& line, const std::string& file);

/// Of accesses for which `is` holds the one with the most waste(), the first of several.
std::optional<DrawnAccess> worst_access(
    const std::vector<vgpu::WarpAccess>& accesses, const std::vector<vgpu::Site>& sites,
    const std::function<bool(const vgpu::WarpAccess& access)>& is);
/// Of those at a place, or of all for an empty one.
std::optional<DrawnAccess> worst_access(const std::vector<vgpu::WarpAccess>& accesses,
                                        const std::vector<vgpu::Site>& sites,
                                        const std::string& place);

/// Where the accesses are, each place once, in order.
std::vector<std::string> places_of(const std::vector<vgpu::WarpAccess>& accesses,
                                   const std::vector<vgpu::Site>& sites);

}  // namespace rung
