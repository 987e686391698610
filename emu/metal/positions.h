#pragma once
// The positions of a thread: the values of [[thread_position_in_grid]] and similar attributes. They
// convert to exactly the types that the specification allows (section 5.2.3.6).

namespace metal {
namespace rung_detail {

template <class T>
constexpr bool is_index = is_same_v<T, uint> || is_same_v<T, ushort>;
template <class T>
constexpr bool is_position = is_index<T> || is_same_v<T, uint2> || is_same_v<T, uint3> ||
                             is_same_v<T, ushort2> || is_same_v<T, ushort3>;

template <class T>
struct FromThree {
  static RUNG_METAL T make(uint x, uint, uint) { return static_cast<T>(x); }
};
template <class T>
struct FromThree<vec<T, 2>> {
  static RUNG_METAL vec<T, 2> make(uint x, uint y, uint) {
    return {static_cast<T>(x), static_cast<T>(y)};
  }
};
template <class T>
struct FromThree<vec<T, 3>> {
  static RUNG_METAL vec<T, 3> make(uint x, uint y, uint z) {
    return {static_cast<T>(x), static_cast<T>(y), static_cast<T>(z)};
  }
};

/// A value with three coordinates. `Value` has functions x, y and z.
template <class Value>
struct Position {
  template <class T, class = enable_if_t<is_position<T>>>
  RUNG_METAL operator T() const {
    return FromThree<T>::make(Value::x(), Value::y(), Value::z());
  }
};

/// A scalar value.
template <class Value>
struct Index {
  template <class T, class = enable_if_t<is_index<T>>>
  RUNG_METAL operator T() const {
    return static_cast<T>(Value::get());
  }
};

#define RUNG_METAL_THREE(name, x_value, y_value, z_value)             \
  struct name {                                                       \
    static RUNG_METAL uint x() { return static_cast<uint>(x_value); } \
    static RUNG_METAL uint y() { return static_cast<uint>(y_value); } \
    static RUNG_METAL uint z() { return static_cast<uint>(z_value); } \
  };
#define RUNG_METAL_SREG(name, register)                         \
  RUNG_METAL_THREE(name, __nvvm_read_ptx_sreg_##register##_x(), \
                   __nvvm_read_ptx_sreg_##register##_y(), __nvvm_read_ptx_sreg_##register##_z())
RUNG_METAL_SREG(InThreadgroup, tid)
RUNG_METAL_SREG(ThreadgroupInGrid, ctaid)
RUNG_METAL_SREG(ThreadgroupsPerGrid, nctaid)
// As dispatched; threadgroups at the edge of the grid may have fewer threads.
RUNG_METAL_SREG(DispatchThreads, ntid)
#undef RUNG_METAL_SREG

// Registers that only the virtual GPU has (vgpu/model/kernel.hpp): the threads of this threadgroup
// and of the grid. dispatchThreads may make fewer than the threadgroups could hold.
#define RUNG_METAL_OWN_REGISTER(name, most)        \
  ([] {                                            \
    uint value;                                    \
    asm("mov.u32 %0, %%" #name ";" : "=r"(value)); \
    __builtin_assume(value <= most);               \
    return value;                                  \
  }())
RUNG_METAL_THREE(ThreadsPerThreadgroup, RUNG_METAL_OWN_REGISTER(threads_in_group.x, 1024u),
                 RUNG_METAL_OWN_REGISTER(threads_in_group.y, 1024u),
                 RUNG_METAL_OWN_REGISTER(threads_in_group.z, 1024u))
RUNG_METAL_THREE(ThreadsPerGrid, RUNG_METAL_OWN_REGISTER(threads_in_grid.x, 0xFFFFFFFFu),
                 RUNG_METAL_OWN_REGISTER(threads_in_grid.y, 0xFFFFFFFFu),
                 RUNG_METAL_OWN_REGISTER(threads_in_grid.z, 0xFFFFFFFFu))
#undef RUNG_METAL_OWN_REGISTER

RUNG_METAL_THREE(InGrid, ThreadgroupInGrid::x() * DispatchThreads::x() + InThreadgroup::x(),
                 ThreadgroupInGrid::y() * DispatchThreads::y() + InThreadgroup::y(),
                 ThreadgroupInGrid::z() * DispatchThreads::z() + InThreadgroup::z())
RUNG_METAL_THREE(Origin, 0, 0, 0)
#undef RUNG_METAL_THREE

constexpr uint threads_per_simdgroup = 32;

struct ThreadIndex {
  static RUNG_METAL uint get() {
    return (InThreadgroup::z() * ThreadsPerThreadgroup::y() + InThreadgroup::y()) *
               ThreadsPerThreadgroup::x() +
           InThreadgroup::x();
  }
};
template <class Threads>
struct Groups {
  static RUNG_METAL uint all() { return Threads::x() * Threads::y() * Threads::z(); }
};
#define RUNG_METAL_INDEX(name, ...)                                         \
  struct name {                                                             \
    static RUNG_METAL uint get() { return static_cast<uint>(__VA_ARGS__); } \
  };
RUNG_METAL_INDEX(LaneIndex, __nvvm_read_ptx_sreg_laneid())
RUNG_METAL_INDEX(SimdgroupIndex, ThreadIndex::get() / threads_per_simdgroup)
RUNG_METAL_INDEX(SimdgroupSize, threads_per_simdgroup)
RUNG_METAL_INDEX(Simdgroups, (Groups<ThreadsPerThreadgroup>::all() + 31) / 32)
RUNG_METAL_INDEX(DispatchSimdgroups, (Groups<DispatchThreads>::all() + 31) / 32)
RUNG_METAL_INDEX(QuadgroupIndex, ThreadIndex::get() / 4)
RUNG_METAL_INDEX(QuadIndex, LaneIndex::get() % 4)
RUNG_METAL_INDEX(Quadgroups, (Groups<ThreadsPerThreadgroup>::all() + 3) / 4)
RUNG_METAL_INDEX(DispatchQuadgroups, (Groups<DispatchThreads>::all() + 3) / 4)
#undef RUNG_METAL_INDEX

/// By the names of the attributes.
namespace positions {
using thread_position_in_grid = Position<InGrid>;
using thread_position_in_threadgroup = Position<InThreadgroup>;
using threadgroup_position_in_grid = Position<ThreadgroupInGrid>;
using threads_per_threadgroup = Position<ThreadsPerThreadgroup>;
using dispatch_threads_per_threadgroup = Position<DispatchThreads>;
using threadgroups_per_grid = Position<ThreadgroupsPerGrid>;
using threads_per_grid = Position<ThreadsPerGrid>;
using grid_size = Position<ThreadsPerGrid>;
using grid_origin = Position<Origin>;
using thread_index_in_threadgroup = Index<ThreadIndex>;
using simdgroup_index_in_threadgroup = Index<SimdgroupIndex>;
using thread_index_in_simdgroup = Index<LaneIndex>;
using threads_per_simdgroup = Index<SimdgroupSize>;
using thread_execution_width = Index<SimdgroupSize>;
using simdgroups_per_threadgroup = Index<Simdgroups>;
using dispatch_simdgroups_per_threadgroup = Index<DispatchSimdgroups>;
using quadgroup_index_in_threadgroup = Index<QuadgroupIndex>;
using thread_index_in_quadgroup = Index<QuadIndex>;
using quadgroups_per_threadgroup = Index<Quadgroups>;
using dispatch_quadgroups_per_threadgroup = Index<DispatchQuadgroups>;
}  // namespace positions

/// The value of a variable outside of functions that has an attribute.
template <class T, class P>
RUNG_METAL T global_position() {
  return P{};
}

/// Dynamic threadgroup memory: the memory of all arguments, whose size is set by the dispatch.
extern threadgroup char threadgroup_arguments[] __attribute__((aligned(16)));

/// The offset of each argument in that memory, written by the dispatch. Only modules with arguments
/// define it.
template <class>
struct ThreadgroupLayout {
  static const volatile
      __attribute__((opencl_constant)) uint begin[31] __asm__("rung_threadgroup_layout");
};
template <class T>
const volatile __attribute__((opencl_constant)) uint ThreadgroupLayout<T>::begin[31] = {};

template <int index>
struct ThreadgroupArgument {
  static_assert(index >= 0 && index < 31, "Metal has [[threadgroup(0)]] to [[threadgroup(30)]]");
  template <class T>
  RUNG_METAL operator threadgroup T*() const {
    return reinterpret_cast<threadgroup T*>(
        &threadgroup_arguments[ThreadgroupLayout<void>::begin[index]]);
  }
  template <class T>
  RUNG_METAL operator threadgroup T&() const {
    return *static_cast<threadgroup T*>(*this);
  }
};

}  // namespace rung_detail
}  // namespace metal
