#include "vgpu/engine/warp/rendezvous.hpp"

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

void all_members_here(Warp&, const Instr&) {}

void wait_for_members(Warp& warp, const Instr& instr) {
  const Mask* const masks = warp.row<Mask>(instr.row[0]);
  Mask named = 0;
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) named |= masks[first_lane(rest)];
  Mask others = 0;
  for (const Split& split : warp.splits) {
    if (split.state != Split::State::at_exchange || split.site != instr.site) continue;
    if ((split.mask & named) != 0) others |= split.mask;
  }
  Split& own = warp.split();
  if ((named & warp.live & ~warp.mask & ~others) != 0 && !own.alone) {
    own.state = Split::State::at_exchange;
    own.site = instr.site;
    return;
  }
  own.alone = false;
  warp.joined = others;
}

/// Runs a basic block with exchanges for a part of the warp. Returns false if it waits for other
/// lanes.
bool Block::run_exchanging(Warp& warp, const BasicBlock& block) {
  const Instr* const begin = worker.kernel.code.data() + block.first;
  Split& own = warp.split();
  const int count = static_cast<int>(block.count);
  const int from = own.resume < 0 ? 0 : own.resume;
  own.resume = -1;
  for (int i = from; i < count; ++i) {
    begin[i].masked(warp, begin[i]);
    if (own.state == Split::State::at_exchange) {
      own.resume = i;
      return false;
    }
    if (warp.joined == 0) continue;
    // Run the exchange itself, for all lanes that wait for it.
    const Mask alone = warp.mask;
    warp.mask |= warp.joined;
    ++i;
    begin[i].masked(warp, begin[i]);
    warp.mask = alone;
    for (Split& split : warp.splits) {
      if (split.state != Split::State::at_exchange || (split.mask & warp.joined) == 0) continue;
      split.state = Split::State::ready;
      split.resume = i + 1;
    }
    warp.joined = 0;
  }
  return true;
}

/// Called when lanes have exited: splits that waited for them check again.
void Block::wake_exchanges(Warp& warp) {
  for (Split& split : warp.used_splits()) {
    if (split.state == Split::State::at_exchange) split.state = Split::State::ready;
  }
}

/// Called when no other split of the warp can run: lets one split exchange without the missing
/// lanes, and reports that. With `patient`, only if no missing lane waits for another warp.
bool Block::force_exchange(Warp& warp, bool patient) {
  Split* found = nullptr;
  for (Split& split : warp.used_splits()) {
    if (patient && split.state == Split::State::at_barrier) return false;
    if (split.state == Split::State::at_exchange && found == nullptr) found = &split;
  }
  if (found == nullptr) return false;
  found->alone = true;
  found->state = Split::State::ready;
  return true;
}

}  // namespace rung::vgpu
