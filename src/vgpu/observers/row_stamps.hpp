#pragma once
// Race detection in global memory by rows: lanes that access aligned, adjacent words leave one
// stamp for all of them (RowStamp). Most accesses are of this kind, and stamps of granules would need
// ten times their memory.

#include <array>
#include <cstdint>

#include "vgpu/observers/global_rows.hpp"

namespace rung::vgpu {

/// A launch's accesses to an allocation.
struct RowLaunch {
  const GlobalShadow& shadow;
  std::uint64_t number;  // the launch's, by its first block
  std::uint64_t granule_bytes;
  GlobalStamp oldest;  // as in GlobalRow
};

/// Whether accesses to the allocation may still be recorded as rows.
bool has_rows(const RowLaunch& launch);

/// An access to adjacent words in each half of a warp.
struct HalfWarps {
  std::array<std::uint64_t, 2> begin;  // offset of the word of the half's first lane, active or not
  std::array<std::uint32_t, 2> lanes;  // that are active, of 16
  std::uint64_t lane_bytes;
};

/// Checks and records the access. `row`: its stamps. False, and nothing is recorded, if it has to be
/// compared granule by granule: then spread_rows() comes first.
bool visit_rows(const RowLaunch& launch, const GlobalRow& row, const HalfWarps& halves,
                bool writes);

/// The same for an access of all lanes to rows that this launch has not touched, or only the same
/// threads, and in the same way, which most are. False, and nothing is recorded, of any other.
bool visit_own_rows(const RowLaunch& launch, const GlobalRow& row, const HalfWarps& halves,
                    bool writes);

/// Gives the granules in bytes `begin` to `end` stamps of their own, before an access there that is
/// not of rows.
void spread_rows(const RowLaunch& launch, std::uint64_t begin, std::uint64_t end);

}  // namespace rung::vgpu
