#pragma once
// Races of bulk copies in global memory. Reads are checked against the writes before them, and writes
// against all that was before; a write is in flight until a thread waits until it is complete, and ordered
// before nothing. (Later writes are not checked against reads of bulk copies.)

#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {

/// Checks a read of a range before it is made. The thread that issues it has to be ordered after those
/// that wrote there; and where threads did, a proxy fence has to be between.
void check_bulk_read(const AsyncAccess& access, const GlobalRange& range);
/// Checks and records a write. `atomic`: a reduction. `first_lane` has issued the same copy by the same
/// instruction before, if that is not the access's own lane: the same value in either order.
void note_bulk_write(const AsyncAccess& access, const GlobalRange& range, bool atomic,
                     int first_lane);
/// The warp has waited until its lane's write is complete: it is the lane's own from now on.
void complete_bulk_write(const AsyncAccess& access, const GlobalRange& range, bool atomic);

}  // namespace rung::vgpu
