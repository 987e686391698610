#include "vgpu/engine/control/guard.hpp"

#include <type_traits>

#include "vgpu/engine/execution/block.hpp"

namespace rung::vgpu {
namespace {

void run_guarded(Warp& warp, const Instr& instr) {
  const auto& inner = instr.op<Instr>();
  const Mask active = warp.mask;
  const Mask holds = warp.predicate(instr.guard);
  const Mask lanes = active & (instr.row[0] != 0 ? ~holds : holds);
  if (instr.row[1] != 0) {
    warp.block->worker.predicated_off[instr.site] +=
        static_cast<std::uint64_t>(lanes_in(active & ~lanes));
  }
  if (lanes == 0) return;
  warp.mask = lanes;
  inner.masked(warp, inner);
  warp.mask = active;
}

template <class To, class From>
void resize(Warp& warp, const Instr& instr) {
  To* to = warp.row<To>(instr.rows[0]);
  const From* from = warp.row<From>(instr.rows[1]);
  for (int lane = 0; lane < warp_size; ++lane) {
    if (warp.mask >> lane & 1u) to[lane] = static_cast<To>(from[lane]);
  }
}

template <class To>
Handler resize_from(int bytes, bool sign) {
  switch (bytes) {
    case 2: return sign ? resize<To, std::int16_t> : resize<To, std::uint16_t>;
    case 4: return sign ? resize<To, std::int32_t> : resize<To, std::uint32_t>;
    case 8: return resize<To, std::uint64_t>;
    default: return nullptr;
  }
}

}  // namespace

Instr guarded_by(const Instr& inner, std::uint32_t predicate_row, bool negated, bool counts) {
  Instr instr{};
  instr.full = instr.masked = run_guarded;
  instr.imm = imm_to(inner);
  instr.guard = predicate_row;
  instr.row[0] = negated ? 1 : 0;
  instr.row[1] = counts ? 1 : 0;
  return instr;
}

Handler resize_handler(int to_bytes, int from_bytes, bool sign) {
  switch (to_bytes) {
    case 2: return resize_from<std::uint16_t>(from_bytes, sign);
    case 4: return resize_from<std::uint32_t>(from_bytes, sign);
    case 8: return resize_from<std::uint64_t>(from_bytes, sign);
    default: return nullptr;
  }
}

}  // namespace rung::vgpu
