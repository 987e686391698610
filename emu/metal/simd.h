#pragma once
// <metal_simdgroup>, <metal_quadgroup>. The front end makes shuffles and votes tolerate absent
// lanes, as the threads of a simdgroup that is not full, or that took another branch: a function
// acts on the active threads.

namespace metal {

/// The types that functions of a simdgroup exchange, by the name in Apple's library.
template <class T>
struct __is_valid_simdgroup_type : is_arithmetic<T> {};
namespace rung_detail {

constexpr uint all_lanes = 0xFFFFFFFFu;

/// f of each 32-bit word of a value.
template <class T, class F>
RUNG_METAL T by_words(T value, F f) {
  if constexpr (is_same_v<T, bool>) {
    return f(static_cast<int>(value)) != 0;
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, f(__builtin_bit_cast(int, value)));
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(
        T, static_cast<ushort>(f(static_cast<int>(__builtin_bit_cast(ushort, value)))));
  } else if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(
        T, static_cast<uchar>(f(static_cast<int>(__builtin_bit_cast(uchar, value)))));
  } else {
    struct Words {
      int word[sizeof(T) / 4];
    };
    Words words = __builtin_bit_cast(Words, value);
    for (uint i = 0; i < sizeof(T) / 4; ++i) words.word[i] = f(words.word[i]);
    return __builtin_bit_cast(T, words);
  }
}

RUNG_METAL uint active_lanes() {
  return static_cast<uint>(__nvvm_vote_ballot_sync(all_lanes, true));
}

}  // namespace rung_detail

template <class T>
RUNG_METAL T simd_shuffle(T value, ushort lane) {
  return rung_detail::by_words(value, [lane](int word) {
    return __nvvm_shfl_sync_idx_i32(rung_detail::all_lanes, word, lane, 31);
  });
}
template <class T>
RUNG_METAL T simd_shuffle_xor(T value, ushort mask) {
  return rung_detail::by_words(value, [mask](int word) {
    return __nvvm_shfl_sync_bfly_i32(rung_detail::all_lanes, word, mask, 31);
  });
}
template <class T>
RUNG_METAL T simd_shuffle_down(T value, ushort delta) {
  return rung_detail::by_words(value, [delta](int word) {
    return __nvvm_shfl_sync_down_i32(rung_detail::all_lanes, word, delta, 31);
  });
}
template <class T>
RUNG_METAL T simd_shuffle_up(T value, ushort delta) {
  return rung_detail::by_words(value, [delta](int word) {
    return __nvvm_shfl_sync_up_i32(rung_detail::all_lanes, word, delta, 0);
  });
}
template <class T>
RUNG_METAL T simd_shuffle_rotate_down(T value, ushort delta) {
  return simd_shuffle(value, (rung_detail::LaneIndex::get() + delta) & 31);
}
template <class T>
RUNG_METAL T simd_shuffle_rotate_up(T value, ushort delta) {
  return simd_shuffle(value, (rung_detail::LaneIndex::get() - delta) & 31);
}
/// Lanes without a source take the values of `filling`, from the other end of their group.
template <class T>
RUNG_METAL T simd_shuffle_and_fill_down(T value, T filling, ushort delta, ushort group = 32) {
  const uint lane = rung_detail::LaneIndex::get(), first = lane & ~(group - 1u);
  const uint from = (lane - first) + delta;
  const ushort source = static_cast<ushort>(first + (from & (group - 1u)));
  const T moved = simd_shuffle(value, source), filled = simd_shuffle(filling, source);
  return from < group ? moved : filled;
}
template <class T>
RUNG_METAL T simd_shuffle_and_fill_up(T value, T filling, ushort delta, ushort group = 32) {
  const uint lane = rung_detail::LaneIndex::get(), first = lane & ~(group - 1u);
  const ushort source = static_cast<ushort>(first + ((lane - first - delta) & (group - 1u)));
  const T moved = simd_shuffle(value, source), filled = simd_shuffle(filling, source);
  return lane - first >= delta ? moved : filled;
}
template <class T>
RUNG_METAL T simd_broadcast(T value, ushort lane) {
  return simd_shuffle(value, lane);
}

struct simd_vote {
  using vote_t = ulong;
  ulong votes;

  simd_vote() = default;
  RUNG_METAL constexpr explicit simd_vote(vote_t v) : votes(v) {}
  RUNG_METAL constexpr explicit operator vote_t() const { return votes; }
  RUNG_METAL bool all() const { return votes == rung_detail::all_lanes; }
  RUNG_METAL bool any() const { return votes != 0; }
};

RUNG_METAL bool simd_all(bool value) { return __nvvm_vote_all_sync(rung_detail::all_lanes, value); }
RUNG_METAL bool simd_any(bool value) { return __nvvm_vote_any_sync(rung_detail::all_lanes, value); }
RUNG_METAL simd_vote simd_ballot(bool value) {
  return simd_vote(static_cast<uint>(__nvvm_vote_ballot_sync(rung_detail::all_lanes, value)));
}
RUNG_METAL simd_vote simd_active_threads_mask() { return simd_vote(rung_detail::active_lanes()); }
RUNG_METAL bool simd_is_first() {
  return rung_detail::LaneIndex::get() ==
         static_cast<uint>(__builtin_ctz(rung_detail::active_lanes()));
}
RUNG_METAL bool simd_is_helper_thread() { return false; }
template <class T>
RUNG_METAL T simd_broadcast_first(T value) {
  return simd_shuffle(value, static_cast<ushort>(__builtin_ctz(rung_detail::active_lanes())));
}

namespace rung_detail {

struct Add {
  template <class T>
  RUNG_METAL T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Multiply {
  template <class T>
  RUNG_METAL T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};
struct Minimum {
  template <class T>
  RUNG_METAL T operator()(T a, T b) const {
    return min(a, b);
  }
};
struct Maximum {
  template <class T>
  RUNG_METAL T operator()(T a, T b) const {
    return max(a, b);
  }
};
struct And {
  template <class T>
  RUNG_METAL T operator()(T a, T b) const {
    if constexpr (is_integral_v<T>) return static_cast<T>(a & b);
    return a;
  }
};
struct Or {
  template <class T>
  RUNG_METAL T operator()(T a, T b) const {
    if constexpr (is_integral_v<T>) return static_cast<T>(a | b);
    return a;
  }
};
struct Xor {
  template <class T>
  RUNG_METAL T operator()(T a, T b) const {
    if constexpr (is_integral_v<T>) return static_cast<T>(a ^ b);
    return a;
  }
};

/// The values of the active lanes in `lanes`, combined in ascending order.
template <class Operation, class T>
RUNG_METAL T combine(T value, uint lanes) {
  T result = simd_shuffle(value, static_cast<ushort>(__builtin_ctz(lanes)));
  for (lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1) {
    result = Operation{}(result, simd_shuffle(value, static_cast<ushort>(__builtin_ctz(lanes))));
  }
  return result;
}

// Every lane receives the result. With all lanes active this takes five shuffles, which are counted
// as such.
template <class Operation, class T>
RUNG_METAL T reduce(T value) {
  const uint active = active_lanes();
  if (active != all_lanes) return combine<Operation>(value, active);
  for (ushort mask = 16; mask > 0; mask /= 2) {
    value = Operation{}(value, simd_shuffle_xor(value, mask));
  }
  return value;
}

/// The values of the active lanes up to this one, or before it, combined in ascending order.
template <class Operation, class T>
RUNG_METAL T scan(T value, bool is_inclusive, T neutral) {
  T result = neutral;
  const uint lane = LaneIndex::get();
  for (uint active = active_lanes(); active != 0; active &= active - 1) {
    const uint from = static_cast<uint>(__builtin_ctz(active));
    const T other = simd_shuffle(value, static_cast<ushort>(from));
    if (from < lane || (is_inclusive && from == lane)) result = Operation{}(result, other);
  }
  return result;
}

}  // namespace rung_detail

#define RUNG_METAL_REDUCTION(name, operation)                  \
  template <class T>                                           \
  RUNG_METAL T simd_##name(T value) {                          \
    return rung_detail::reduce<rung_detail::operation>(value); \
  }                                                            \
  template <class T>                                           \
  RUNG_METAL T quad_##name(T value) {                          \
    const uint quad = rung_detail::LaneIndex::get() & ~3u;     \
    return rung_detail::combine<rung_detail::operation>(       \
        value, rung_detail::active_lanes() & (15u << quad));   \
  }
RUNG_METAL_REDUCTION(sum, Add)
RUNG_METAL_REDUCTION(product, Multiply)
RUNG_METAL_REDUCTION(min, Minimum)
RUNG_METAL_REDUCTION(max, Maximum)
RUNG_METAL_REDUCTION(and, And)
RUNG_METAL_REDUCTION(or, Or)
RUNG_METAL_REDUCTION(xor, Xor)
#undef RUNG_METAL_REDUCTION

#define RUNG_METAL_SCAN(name, operation, neutral)                                                  \
  template <class T>                                                                               \
  RUNG_METAL T simd_prefix_inclusive_##name(T value) {                                             \
    return rung_detail::scan<rung_detail::operation>(value, true, rung_detail::make<T>(neutral));  \
  }                                                                                                \
  template <class T>                                                                               \
  RUNG_METAL T simd_prefix_exclusive_##name(T value) {                                             \
    return rung_detail::scan<rung_detail::operation>(value, false, rung_detail::make<T>(neutral)); \
  }
RUNG_METAL_SCAN(sum, Add, 0)
RUNG_METAL_SCAN(product, Multiply, 1)
#undef RUNG_METAL_SCAN

template <class T>
RUNG_METAL T quad_shuffle(T value, ushort lane) {
  return simd_shuffle(value,
                      static_cast<ushort>((rung_detail::LaneIndex::get() & ~3u) + (lane & 3)));
}
template <class T>
RUNG_METAL T quad_broadcast(T value, ushort lane) {
  return quad_shuffle(value, lane);
}
template <class T>
RUNG_METAL T quad_broadcast_first(T value) {
  return quad_shuffle(value, 0);
}
template <class T>
RUNG_METAL T quad_shuffle_xor(T value, ushort mask) {
  return simd_shuffle_xor(value, mask);
}
template <class T>
RUNG_METAL T quad_shuffle_down(T value, ushort delta) {
  const uint lane = rung_detail::LaneIndex::get() % 4;
  return quad_shuffle(value, static_cast<ushort>(lane + delta < 4 ? lane + delta : lane));
}
template <class T>
RUNG_METAL T quad_shuffle_up(T value, ushort delta) {
  const uint lane = rung_detail::LaneIndex::get() % 4;
  return quad_shuffle(value, static_cast<ushort>(lane >= delta ? lane - delta : lane));
}
template <class T>
RUNG_METAL T quad_shuffle_rotate_down(T value, ushort delta) {
  return quad_shuffle(value, static_cast<ushort>((rung_detail::LaneIndex::get() + delta) % 4));
}
template <class T>
RUNG_METAL T quad_shuffle_rotate_up(T value, ushort delta) {
  return quad_shuffle(value, static_cast<ushort>((rung_detail::LaneIndex::get() - delta) % 4));
}
RUNG_METAL bool quad_all(bool value) { return quad_and(static_cast<uint>(value)) != 0; }
RUNG_METAL bool quad_any(bool value) { return quad_or(static_cast<uint>(value)) != 0; }
RUNG_METAL bool quad_is_first() { return rung_detail::LaneIndex::get() % 4 == 0; }

}  // namespace metal
