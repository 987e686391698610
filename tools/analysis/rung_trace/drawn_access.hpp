#pragma once
// Selects the access to draw.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/rung_trace/access_recorder.hpp"
#include "vgpu/launch.hpp"

namespace rung {

struct DrawnAccess {
  std::string what;   // "global load"
  std::string where;  // "00_naive.cu:28, ld.global.f32"
  vgpu::WarpAccess access;
};

/// The location of an instruction without directories: "00_naive.cu:28"; empty if unknown.
std::string place_of(const vgpu::Site& site);
/// Completes "28" to "00_naive.cu:28" for this file; locations with a file are unchanged.
std::string full_place(const std::string& line, const std::string& file);

/// The access with the largest waste() among those for which `is` returns true; if several, the
/// first.
std::optional<DrawnAccess> worst_access(
    const std::vector<vgpu::WarpAccess>& accesses, const std::vector<vgpu::Site>& sites,
    const std::function<bool(const vgpu::WarpAccess& access)>& is);
/// The access with the largest waste() at a location, or of all if `place` is empty.
std::optional<DrawnAccess> worst_access(const std::vector<vgpu::WarpAccess>& accesses,
                                        const std::vector<vgpu::Site>& sites,
                                        const std::string& place);

/// The distinct locations of the accesses, in order.
std::vector<std::string> places_of(const std::vector<vgpu::WarpAccess>& accesses,
                                   const std::vector<vgpu::Site>& sites);

}  // namespace rung
