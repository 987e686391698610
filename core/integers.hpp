#pragma once
// Integer division helpers for hosts and devices.

#include <cstdint>

namespace rung {

/// a / b rounded up, for a >= 0 and b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// a rounded up to a multiple of b, for a >= 0 and b > 0.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

}  // namespace rung
