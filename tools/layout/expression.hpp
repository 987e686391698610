#pragma once
// Integer expressions of a lane's number, such as "lane / 4 * 128 + lane % 4 * 16".

#include <cstdint>
#include <string>

namespace rung::layout {

/// The value for one lane. Knows numbers (also 0x…), lane, ( ), and C's operators * / % + - << >> &
/// ^ | in their order. Throws std::invalid_argument with the position of an error.
std::int64_t value_of(const std::string& expression, int lane);

}  // namespace rung::layout
