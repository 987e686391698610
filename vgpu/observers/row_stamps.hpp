#pragma once
// Race detection in global memory by rows: lanes that access aligned, adjacent words share one
// stamp (RowStamp). Most accesses are of this kind; one stamp per granule would take ten times the
// memory.

#include <array>
#include <cstdint>

#include "vgpu/observers/global_rows.hpp"

namespace rung::vgpu {

/// A launch that accesses an allocation.
struct RowLaunch {
  const GlobalShadow& shadow;
  std::uint64_t number;  // number of the launch's first block
  std::uint64_t granule_bytes;
  GlobalStamp oldest;  // see GlobalRow
};

/// True if accesses to the allocation may still be recorded as rows.
bool has_rows(const RowLaunch& launch);

/// An access to adjacent words in each half of a warp.
struct HalfWarps {
  // Offset of the word of the half's first lane, even if inactive.
  std::array<std::uint64_t, 2> begin;
  std::array<std::uint32_t, 2> lanes;  // active lanes, 16 bits
  std::uint64_t lane_bytes;
};

/// Checks and records an access. `row`: its stamps. Returns false, without recording, if it must be
/// checked granule by granule, for which spread_rows() must be called first.
bool visit_rows(const RowLaunch& launch, const GlobalRow& row, const HalfWarps& halves,
                bool writes);

/// Fast path of visit_rows() for the common case: an access of all lanes to rows untouched by this
/// launch, or only touched by the same threads in the same way. Returns false, without recording,
/// in other cases.
bool visit_own_rows(const RowLaunch& launch, const GlobalRow& row, const HalfWarps& halves,
                    bool writes);

/// Converts row stamps in bytes [begin, end) to stamps of granules. Call this before an access to
/// these bytes that is not recorded by rows.
void spread_rows(const RowLaunch& launch, std::uint64_t begin, std::uint64_t end);

}  // namespace rung::vgpu
