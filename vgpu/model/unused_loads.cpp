#include "vgpu/model/unused_loads.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace rung::vgpu {
namespace {

using Op = IndexValue::Op;

using Known = std::optional<std::uint32_t>;

/// Evaluates a value from those of its operands: a conjunction with a false part is false, whatever the other part is.
Known evaluate(const IndexValue& value, const Known& x, const Known& y,
               const std::array<std::uint32_t, 3>& tid) {
  switch (value.op) {
    case Op::unknown: return std::nullopt;
    case Op::constant: return value.bits;
    case Op::tid: return tid[value.bits];
    case Op::negate: return x ? Known(*x ^ 1) : std::nullopt;
    case Op::bit_and:
      if (x == 0u || y == 0u) return 0;
      break;
    default: break;
  }
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

/// All values, in their order: each operand comes before the values that it is used for.
std::vector<Known> evaluate_all(const std::vector<IndexValue>& values,
                                const std::array<std::uint32_t, 3>& tid) {
  std::vector<Known> known;
  known.reserve(values.size());
  const auto at = [&](int position) {
    return position < 0 ? std::nullopt : known[static_cast<std::size_t>(position)];
  };
  for (const IndexValue& value : values) {
    known.push_back(evaluate(value, at(value.first), at(value.second), tid));
  }
  return known;
}

}  // namespace

bool UnusedLoads::is_unused(std::uint32_t load, const std::array<std::uint32_t, 3>& tid) const {
  const auto found = stores.find(load);
  if (found == stores.end()) return false;
  const std::vector<Known> known = evaluate_all(values, tid);
  return std::ranges::all_of(found->second, [&](const GuardedStore& store) {
    return known[static_cast<std::size_t>(store.guard)] == (store.negated ? 1u : 0u);
  });
}

}  // namespace rung::vgpu
