#pragma once
// Functions of a simdgroup, whose threads all take part. A value goes from lane to lane as a word.

namespace metal {
namespace detail {

template <class T, int bytes = sizeof(T)>
struct Word {
  static int of(T value) { return as_type<int>(value); }
  static T back(int word) { return as_type<T>(word); }
};
template <class T>
struct Word<T, 2> {
  static int of(T value) { return as_type<ushort>(value); }
  static T back(int word) { return as_type<T>(static_cast<ushort>(word)); }
};

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return min(a, b);
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return max(a, b);
  }
};

}  // namespace detail

constexpr uint rung_all_lanes = 0xFFFFFFFFu;

template <class T>
T simd_shuffle(T value, ushort lane) {
  using Word = detail::Word<T>;
  return Word::back(__nvvm_shfl_sync_idx_i32(rung_all_lanes, Word::of(value), lane, 31));
}
template <class T>
T simd_shuffle_xor(T value, ushort mask) {
  using Word = detail::Word<T>;
  return Word::back(__nvvm_shfl_sync_bfly_i32(rung_all_lanes, Word::of(value), mask, 31));
}
template <class T>
T simd_shuffle_down(T value, ushort delta) {
  using Word = detail::Word<T>;
  return Word::back(__nvvm_shfl_sync_down_i32(rung_all_lanes, Word::of(value), delta, 31));
}
template <class T>
T simd_shuffle_up(T value, ushort delta) {
  using Word = detail::Word<T>;
  return Word::back(__nvvm_shfl_sync_up_i32(rung_all_lanes, Word::of(value), delta, 0));
}
template <class T>
T simd_broadcast(T value, ushort lane) {
  return simd_shuffle(value, lane);
}
template <class T>
T simd_broadcast_first(T value) {
  return simd_shuffle(value, 0);
}

namespace detail {

template <class Operation, class T>
T reduce(T value) {
  for (ushort mask = 16; mask > 0; mask /= 2) {
    value = Operation::of(value, simd_shuffle_xor(value, mask));
  }
  return value;
}

}  // namespace detail

// Every lane gets the result. On the virtual GPU these are five shuffles, and count as such.
template <class T>
T simd_sum(T value) {
  return detail::reduce<detail::Add>(value);
}
template <class T>
T simd_min(T value) {
  return detail::reduce<detail::Min>(value);
}
template <class T>
T simd_max(T value) {
  return detail::reduce<detail::Max>(value);
}

inline bool simd_all(bool value) { return __nvvm_vote_all_sync(rung_all_lanes, value); }
inline bool simd_any(bool value) { return __nvvm_vote_any_sync(rung_all_lanes, value); }

}  // namespace metal
