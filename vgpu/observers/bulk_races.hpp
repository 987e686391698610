#pragma once
// Races of bulk copies in global memory. Reads are checked against earlier writes, and writes
// against all earlier accesses. A write is in flight until a thread has waited for its completion;
// until then, it is not ordered before any access. Writes are checked against reads by bulk copies of the same
// cluster that are in flight. (Those of other clusters, and completed ones, are not known.)

#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {

/// Checks a read of a range before it is made. Earlier writes there must be ordered before the
/// issuing thread, and if threads made them, a proxy fence must be between.
void check_bulk_read(const AsyncAccess& access, const GlobalRange& range);
/// Reports a bulk copy of the cluster that is in flight and reads some of the bytes that a thread, or another bulk
/// copy, is about to write.
void check_bulk_sources(Block& block, int thread, std::uint32_t site, const char* what,
                        const GlobalRange& written);
/// Checks and records a write. `atomic`: a reduction. `first_lane`: a lane that has already issued
/// the same copy by the same instruction, whose value is the same in either order, or the access's
/// own lane.
void note_bulk_write(const AsyncAccess& access, const GlobalRange& range, bool atomic,
                     int first_lane);
/// Call when the warp has waited for a write's completion: from now on it counts as a write by the
/// lane.
void complete_bulk_write(const AsyncAccess& access, const GlobalRange& range, bool atomic);

}  // namespace rung::vgpu
