#pragma once
// Where a thread is: [[thread_position_in_grid]] and its like. An attribute turns into a default
// argument of its parameter:
//     uint2 at [[thread_position_in_grid]]    becomes    uint2 at [[]] = Position…{}[zero[0]]
// whose conversions allow the types that the specification allows (section 5.2.3.6), and no other.

namespace metal {
namespace detail {

constexpr int zero[1] = {0};

template <class T>
constexpr bool is_index = is_same_v<T, uint> || is_same_v<T, ushort>;
template <class T>
constexpr bool is_position = is_index<T> || is_same_v<T, uint2> || is_same_v<T, uint3> ||
                             is_same_v<T, ushort2> || is_same_v<T, ushort3>;

template <class T>
struct FromThree {
  static T make(uint x, uint, uint) { return static_cast<T>(x); }
};
template <class T>
struct FromThree<vec<T, 2>> {
  static vec<T, 2> make(uint x, uint y, uint) { return {static_cast<T>(x), static_cast<T>(y)}; }
};
template <class T>
struct FromThree<vec<T, 3>> {
  static vec<T, 3> make(uint x, uint y, uint z) {
    return {static_cast<T>(x), static_cast<T>(y), static_cast<T>(z)};
  }
};

/// A value of three coordinates, by a struct with functions x, y and z.
template <class Value>
struct Position {
  template <class T, class = enable_if_t<is_position<T>>>
  operator T() const {
    return FromThree<T>::make(Value::x(), Value::y(), Value::z());
  }
  Position operator[](int) const { return {}; }
};

/// A single number.
template <class Value>
struct Index {
  template <class T, class = enable_if_t<is_index<T>>>
  operator T() const {
    return static_cast<T>(Value::get());
  }
  Index operator[](int) const { return {}; }
};

#define RUNG_METAL_THREE(name, x_value, y_value, z_value)  \
  struct name {                                            \
    static uint x() { return static_cast<uint>(x_value); } \
    static uint y() { return static_cast<uint>(y_value); } \
    static uint z() { return static_cast<uint>(z_value); } \
  };
#define RUNG_METAL_OF(register, axis) __nvvm_read_ptx_sreg_##register##_##axis()
#define RUNG_METAL_SREG(name, register)                                          \
  RUNG_METAL_THREE(name, RUNG_METAL_OF(register, x), RUNG_METAL_OF(register, y), \
                   RUNG_METAL_OF(register, z))

RUNG_METAL_SREG(InThreadgroup, tid)
RUNG_METAL_SREG(ThreadgroupInGrid, ctaid)
RUNG_METAL_SREG(ThreadsPerThreadgroup, ntid)
RUNG_METAL_SREG(ThreadgroupsPerGrid, nctaid)
RUNG_METAL_THREE(InGrid, ThreadgroupInGrid::x() * ThreadsPerThreadgroup::x() + InThreadgroup::x(),
                 ThreadgroupInGrid::y() * ThreadsPerThreadgroup::y() + InThreadgroup::y(),
                 ThreadgroupInGrid::z() * ThreadsPerThreadgroup::z() + InThreadgroup::z())
RUNG_METAL_THREE(ThreadsPerGrid, ThreadgroupsPerGrid::x() * ThreadsPerThreadgroup::x(),
                 ThreadgroupsPerGrid::y() * ThreadsPerThreadgroup::y(),
                 ThreadgroupsPerGrid::z() * ThreadsPerThreadgroup::z())
#undef RUNG_METAL_SREG
#undef RUNG_METAL_OF
#undef RUNG_METAL_THREE

struct ThreadIndex {
  static uint get() {
    return (InThreadgroup::z() * ThreadsPerThreadgroup::y() + InThreadgroup::y()) *
               ThreadsPerThreadgroup::x() +
           InThreadgroup::x();
  }
};
struct SimdgroupIndex {
  static uint get() { return ThreadIndex::get() / 32; }
};
struct LaneIndex {
  static uint get() { return static_cast<uint>(__nvvm_read_ptx_sreg_laneid()); }
};
struct ThreadsPerSimdgroup {
  static uint get() { return 32; }
};
struct SimdgroupsPerThreadgroup {
  static uint get() {
    return (ThreadsPerThreadgroup::x() * ThreadsPerThreadgroup::y() * ThreadsPerThreadgroup::z() +
            31) /
           32;
  }
};

/// Threadgroup memory whose size the dispatch gives: that of all arguments.
extern threadgroup char threadgroup_arguments[] __attribute__((aligned(16)));

/// Where each of them begins in it; the dispatch writes that. Only modules with arguments have it.
template <class>
struct ThreadgroupLayout {
  static const volatile
      __attribute__((address_space(4))) uint begin[31] __asm__("rung_threadgroup_layout");
};
template <class T>
const volatile __attribute__((address_space(4))) uint ThreadgroupLayout<T>::begin[31] = {};

template <int index>
struct ThreadgroupArgument {
  static_assert(index >= 0 && index < 31, "Metal has [[threadgroup(0)]] to [[threadgroup(30)]]");
  template <class T>
  operator threadgroup T*() const {
    return reinterpret_cast<threadgroup T*>(
        &threadgroup_arguments[ThreadgroupLayout<void>::begin[index]]);
  }
  ThreadgroupArgument operator[](int) const { return {}; }
};

}  // namespace detail
}  // namespace metal

#define RUNG_METAL_VALUE(Kind, Value) ]] = metal::detail::Kind<metal::detail::Value>{}[metal::detail::zero[0
#define thread_position_in_grid RUNG_METAL_VALUE(Position, InGrid)
#define thread_position_in_threadgroup RUNG_METAL_VALUE(Position, InThreadgroup)
#define threadgroup_position_in_grid RUNG_METAL_VALUE(Position, ThreadgroupInGrid)
#define threads_per_threadgroup RUNG_METAL_VALUE(Position, ThreadsPerThreadgroup)
#define threadgroups_per_grid RUNG_METAL_VALUE(Position, ThreadgroupsPerGrid)
#define threads_per_grid RUNG_METAL_VALUE(Position, ThreadsPerGrid)
#define thread_index_in_threadgroup RUNG_METAL_VALUE(Index, ThreadIndex)
#define simdgroup_index_in_threadgroup RUNG_METAL_VALUE(Index, SimdgroupIndex)
#define thread_index_in_simdgroup RUNG_METAL_VALUE(Index, LaneIndex)
#define threads_per_simdgroup RUNG_METAL_VALUE(Index, ThreadsPerSimdgroup)
#define simdgroups_per_threadgroup RUNG_METAL_VALUE(Index, SimdgroupsPerThreadgroup)
