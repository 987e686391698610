// Speculated loads: keeps their addresses, and checks them where their values are selected.

#include <algorithm>

#include "vgpu/engine/memory/speculation.hpp"
#include "vgpu/lowering/lowering.hpp"

namespace rung::vgpu {

void Lowering::find_speculated(const Liveness& liveness) {
  speculated_ = speculated_loads(function_, cfg_, liveness);
  for (const auto& [load, uses] : speculated_) {
    for (const SpeculatedUse& use : uses)
      uses_of_speculated_[use.instruction].push_back({load, use});
  }
}

/// Emitted before the load, because its address register may have changed when the value is used.
void Lowering::defer_observation(MemoryOp& op) {
  if (!speculated_.contains(site_)) return;
  op.deferred = true;
  MemoryOp later = op;
  later.slot = static_cast<std::uint8_t>(std::min<std::uint32_t>(slots_used_, 255));
  later.starts_shape = true;
  if (slots_used_ < 255) ++slots_used_;
  kernel_->shape_slots = std::max<std::uint32_t>(kernel_->shape_slots, later.slot + 1u);
  const std::uint32_t from = op.address_row;
  if (op.address_bytes != 0) later.address_row = rows_->scratch();
  kernel_->memory_ops.push_back(later);
  const MemoryOp* kept = &kernel_->memory_ops.back();
  deferred_[site_] = kept;
  if (op.address_bytes == 0) return;
  emit(keep_addresses, imm_to(*kept), {later.address_row, from});
}

/// Emitted before an instruction that uses the loaded value.
void Lowering::observe_deferred() {
  const auto found = uses_of_speculated_.find(site_);
  if (found == uses_of_speculated_.end()) return;
  for (const auto& [load, use] : found->second) {
    const auto kept = deferred_.find(load);
    if (kept == deferred_.end()) continue;
    emit_unguarded(use.negated ? observe_unless : observe_if, imm_to(*kept->second),
                   {register_row(use.predicate)});
  }
}

}  // namespace rung::vgpu
