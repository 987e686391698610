// div and rem of integers (PTX ISA, 9.7.1.8 and 9.7.1.9). PTX leaves division by zero unspecified;
// here quotient and remainder are then all ones, as measured on an H200.

#include <limits>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"

namespace rung::vgpu {

namespace {

// True for min / -1, which wraps to min with remainder 0.
template <class T>
bool overflows(T a, T b) {
  return std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
}

template <class T>
struct Divide {
  static T run(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    return overflows(a, b) ? a : static_cast<T>(a / b);
  }
};

template <class T>
struct Remainder {
  static T run(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    return overflows(a, b) ? T{0} : static_cast<T>(a % b);
  }
};

template <class T>
void add_division(OpTable& table, const std::string& type) {
  table.add({"div.", type}, lane_spec<Divide<T>>());
  table.add({"rem.", type}, lane_spec<Remainder<T>>());
}

}  // namespace

void add_integer_division(OpTable& table) {
  add_division<std::uint16_t>(table, "u16");
  add_division<std::int16_t>(table, "s16");
  add_division<std::uint32_t>(table, "u32");
  add_division<std::int32_t>(table, "s32");
  add_division<std::uint64_t>(table, "u64");
  add_division<std::int64_t>(table, "s64");
}

}  // namespace rung::vgpu
