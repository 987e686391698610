#pragma once
// PTX's comparison operators (PTX ISA, 5.6.1 and 9.3.1). Ordered ones such as lt are false for NaN;
// unordered ones such as ltu are true for NaN.

namespace rung::vgpu {

struct Equal {
  template <class T>
  static bool holds(T a, T b) {
    return a == b;
  }
};
struct OrderedNotEqual {
  template <class T>
  static bool holds(T a, T b) {
    return a < b || a > b;
  }
};
struct Less {
  template <class T>
  static bool holds(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool holds(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static bool holds(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static bool holds(T a, T b) {
    return a >= b;
  }
};
/// True if neither operand is NaN.
struct Ordered {
  template <class T>
  static bool holds(T a, T b) {
    return a == a && b == b;
  }
};
template <class Relation>
struct Not {
  template <class T>
  static bool holds(T a, T b) {
    return !Relation::holds(a, b);
  }
};

}  // namespace rung::vgpu
