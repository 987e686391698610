#include "vgpu/program/rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint32_t alignment = 64;

double as_double(const ptx::Operand& operand) {
  if (operand.is_single) return std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
  if (operand.is_float) return std::bit_cast<double>(operand.bits);
  return static_cast<double>(static_cast<std::int64_t>(operand.bits));
}

}  // namespace

int row_bytes(ptx::Type type) {
  const int size = ptx::size_of(type);
  return type == ptx::Type::pred ? 0 : std::max(size, 2);
}

Rows::Rows(Kernel& kernel, std::uint32_t first_free) : kernel_(kernel), next_(first_free) {}

std::uint32_t Rows::take(int bytes) {
  next_ = (next_ + alignment - 1) / alignment * alignment;
  const std::uint32_t offset = next_;
  next_ += bytes == 0 ? sizeof(Mask) : static_cast<std::uint32_t>(bytes * warp_size);
  return offset;
}

std::uint32_t Rows::constant(int bytes, std::uint64_t bits) {
  const auto [at, is_new] = constants_.try_emplace({bytes, bits}, 0);
  if (is_new) {
    at->second = take(bytes);
    kernel_.constants.push_back({at->second, static_cast<std::uint8_t>(bytes), bits});
  }
  return at->second;
}

std::uint32_t Rows::special(Special special, int bytes) {
  const auto [at, is_new] = specials_.try_emplace({special, bytes}, 0);
  if (is_new) {
    at->second = take(bytes);
    kernel_.specials.push_back({special, at->second, static_cast<std::uint8_t>(bytes)});
  }
  return at->second;
}

std::uint32_t Rows::scratch() { return take(8); }

std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type) {
  const bool written_as_float = operand.is_float || operand.is_single;
  switch (type) {
    case ptx::Type::f32:
      if (operand.is_single) return operand.bits;
      return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(operand)));
    case ptx::Type::f64: return std::bit_cast<std::uint64_t>(as_double(operand));
    default: break;
  }
  if (!written_as_float || operand.is_single) return operand.bits;
  // A floating-point constant for untyped bits has the width of the row.
  return row_bytes(type) == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(as_double(operand)))
                              : operand.bits;
}

std::optional<Special> special_named(std::string_view name) {
  using enum Special;
  constexpr std::array<std::pair<std::string_view, Special>, 46> names = {{
      {"tid.x", tid_x},
      {"tid.y", tid_y},
      {"tid.z", tid_z},
      {"ntid.x", ntid_x},
      {"ntid.y", ntid_y},
      {"ntid.z", ntid_z},
      {"ctaid.x", ctaid_x},
      {"ctaid.y", ctaid_y},
      {"ctaid.z", ctaid_z},
      {"nctaid.x", nctaid_x},
      {"nctaid.y", nctaid_y},
      {"nctaid.z", nctaid_z},
      {"laneid", laneid},
      {"warpid", warpid},
      {"nwarpid", nwarpid},
      {"smid", smid},
      {"nsmid", nsmid},
      {"gridid", gridid},
      {"lanemask_eq", lanemask_eq},
      {"lanemask_lt", lanemask_lt},
      {"lanemask_le", lanemask_le},
      {"lanemask_gt", lanemask_gt},
      {"lanemask_ge", lanemask_ge},
      {"dynamic_smem_size", dynamic_smem_size},
      {"total_smem_size", total_smem_size},
      {"cluster_ctaid.x", cluster_ctaid_x},
      {"cluster_ctaid.y", cluster_ctaid_y},
      {"cluster_ctaid.z", cluster_ctaid_z},
      {"cluster_nctaid.x", cluster_nctaid_x},
      {"cluster_nctaid.y", cluster_nctaid_y},
      {"cluster_nctaid.z", cluster_nctaid_z},
      {"cluster_ctarank", cluster_ctarank},
      {"cluster_nctarank", cluster_nctarank},
      {"clusterid.x", clusterid_x},
      {"clusterid.y", clusterid_y},
      {"clusterid.z", clusterid_z},
      {"nclusterid.x", nclusterid_x},
      {"nclusterid.y", nclusterid_y},
      {"nclusterid.z", nclusterid_z},
      {"is_explicit_cluster", is_explicit_cluster},
      {"threads_in_group.x", threads_in_group_x},
      {"threads_in_group.y", threads_in_group_y},
      {"threads_in_group.z", threads_in_group_z},
      {"threads_in_grid.x", threads_in_grid_x},
      {"threads_in_grid.y", threads_in_grid_y},
      {"threads_in_grid.z", threads_in_grid_z},
  }};
  for (const auto& [known, special] : names) {
    if (known == name) return special;
  }
  return std::nullopt;
}

}  // namespace rung::vgpu
