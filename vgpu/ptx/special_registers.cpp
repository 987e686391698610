#include "vgpu/ptx/special_registers.hpp"

#include <algorithm>
#include <array>

namespace rung::vgpu::ptx {

namespace {

constexpr std::array<std::string_view, 10> vectors = {
    "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid",
    // The virtual GPU's own, for Metal.
    "threads_in_group", "threads_in_grid"};

constexpr std::array<std::string_view, 29> scalars = {
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "is_explicit_cluster",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "reserved_smem_offset_0",
    "reserved_smem_offset_1",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "current_graph_exec",
};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// True if `name` is `prefix`, a number in [0, last], and `suffix`.
bool is_numbered(std::string_view name, std::string_view prefix, int last,
                 std::string_view suffix = "") {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  if (name.size() < prefix.size() + suffix.size()) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  if (name.empty() || name.size() > 2 || (name.size() == 2 && name[0] == '0')) return false;
  int number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + (c - '0');
  }
  return number <= last;
}

}  // namespace

bool is_special_vector(std::string_view name) { return contains(vectors, name); }

bool is_special_register(std::string_view name) {
  return is_special_vector(name) || contains(scalars, name) || is_numbered(name, "envreg", 31) ||
         is_numbered(name, "pm", 7) || is_numbered(name, "pm", 7, "_64");
}

}  // namespace rung::vgpu::ptx
