#include "vgpu/model/hazard.hpp"

namespace rung::vgpu {

const char* name(HazardKind kind) {
  switch (kind) {
    case HazardKind::shared_race: return "shared-memory race";
    case HazardKind::global_race: return "global-memory race";
    case HazardKind::same_value: return "same value";
    case HazardKind::divergent_barrier: return "barrier in divergent code";
    case HazardKind::deadlock: return "deadlock";
    case HazardKind::out_of_bounds: return "out of bounds";
    case HazardKind::misaligned: return "misaligned access";
    case HazardKind::unaligned_vector: return "unaligned vector";
    case HazardKind::uninitialised_read: return "uninitialised read";
    case HazardKind::read_only_write: return "write to constant memory";
    case HazardKind::bad_participant: return "absent participant";
    case HazardKind::missing_fence: return "missing fence";
    case HazardKind::in_flight: return "access to data in flight";
    case HazardKind::early_access: return "early access";
    case HazardKind::barrier_misuse: return "misuse of a barrier";
    case HazardKind::tensor_memory: return "misuse of tensor memory";
    case HazardKind::descriptor: return "wrong descriptor";
    case HazardKind::trap: return "trap";
    case HazardKind::instruction_limit: return "instruction limit";
    case HazardKind::leak: return "leak";
    case HazardKind::host_access: return "host access";
    case HazardKind::failed_call: return "failed call";
    case HazardKind::unordered: return "unordered operations";
  }
  return "unknown";
}

bool is_fault(HazardKind kind) {
  switch (kind) {
    case HazardKind::deadlock:
    case HazardKind::out_of_bounds:
    case HazardKind::misaligned:
    case HazardKind::read_only_write:
    case HazardKind::barrier_misuse:
    case HazardKind::tensor_memory:
    case HazardKind::trap:
    case HazardKind::instruction_limit: return true;
    // On a GPU, these cause wrong results, or correct ones by luck, but no error.
    case HazardKind::shared_race:
    case HazardKind::global_race:
    case HazardKind::same_value:
    case HazardKind::divergent_barrier:
    case HazardKind::unaligned_vector:
    case HazardKind::uninitialised_read:
    case HazardKind::bad_participant:
    case HazardKind::missing_fence:
    case HazardKind::in_flight:
    case HazardKind::early_access:
    case HazardKind::descriptor:
    case HazardKind::leak:
    case HazardKind::host_access:
    case HazardKind::failed_call:
    case HazardKind::unordered: return false;
  }
  return false;
}

}  // namespace rung::vgpu
