#include "vgpu/model/unused_loads.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace rung::vgpu {
namespace {

using Op = IndexValue::Op;

/// Evaluates what is known: a conjunction with a false part is false, whatever the other part is.
std::optional<std::uint32_t> evaluate(const std::vector<IndexValue>& values, int at,
                                      const std::array<std::uint32_t, 3>& tid) {
  if (at < 0) return std::nullopt;
  const IndexValue& value = values[static_cast<std::size_t>(at)];
  if (value.op == Op::unknown) return std::nullopt;
  if (value.op == Op::constant) return value.bits;
  if (value.op == Op::tid) return tid[value.bits];
  const auto x = evaluate(values, value.first, tid);
  if (value.op == Op::negate) return x ? std::optional(*x ^ 1) : std::nullopt;
  const auto y = evaluate(values, value.second, tid);
  if (value.op == Op::bit_and && (x == 0u || y == 0u)) return 0;
  if (!x || !y) return std::nullopt;
  switch (value.op) {
    case Op::bit_and: return *x & *y;
    case Op::bit_or: return *x | *y;
    case Op::bit_xor: return *x ^ *y;
    case Op::left: return *y < 32 ? *x << *y : 0;
    case Op::right: return *y < 32 ? *x >> *y : 0;
    case Op::add: return *x + *y;
    case Op::subtract: return *x - *y;
    case Op::multiply: return *x * *y;
    case Op::equal: return *x == *y;
    case Op::less: return *x < *y;
    case Op::less_signed: return static_cast<std::int32_t>(*x) < static_cast<std::int32_t>(*y);
    default: return std::nullopt;
  }
}

}  // namespace

bool UnusedLoads::is_unused(std::uint32_t load, const std::array<std::uint32_t, 3>& tid) const {
  const auto found = stores.find(load);
  return found != stores.end() && std::ranges::all_of(found->second, [&](const auto& store) {
           return evaluate(values, store.guard, tid) == (store.negated ? 1u : 0u);
         });
}

}  // namespace rung::vgpu
