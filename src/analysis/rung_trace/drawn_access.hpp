#pragma once
// Selects the access to draw.

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

/// The location of an instruction without folders: "00_naive.cu:28"; empty if unknown.
std::string place_of(const vgpu::Site& site);
/// Completes "28" to "00_naive.cu:28" in that file; locations with a file are unchanged.
std::string full_place(const std::string& line, const std::string& file);

/// Among accesses for which `is` holds, the one with the most waste(), and of equal ones the first.
std::optional<DrawnAccess> worst_access(
    const std::vector<vgpu::WarpAccess>& accesses, const std::vector<vgpu::Site>& sites,
    const std::function<bool(const vgpu::WarpAccess& access)>& is);
/// Among those at a location, or all if it is empty.
std::optional<DrawnAccess> worst_access(const std::vector<vgpu::WarpAccess>& accesses,
                                        const std::vector<vgpu::Site>& sites,
                                        const std::string& place);

/// The locations of the accesses, each once, in order.
std::vector<std::string> places_of(const std::vector<vgpu::WarpAccess>& accesses,
                                   const std::vector<vgpu::Site>& sites);

}  // namespace rung
