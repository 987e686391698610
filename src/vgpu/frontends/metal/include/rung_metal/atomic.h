#pragma once
// Atomics, all of relaxed order: Metal has no other for operations.

namespace metal {

enum memory_order { memory_order_relaxed };

template <class T>
struct atomic {
  T value;
};

using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_float = atomic<float>;

// In device and in threadgroup memory.
#define RUNG_METAL_ATOMICS(space)                                                               \
  template <class T>                                                                            \
  T atomic_load_explicit(const volatile space atomic<T>* object, memory_order) {                \
    return __atomic_load_n(&object->value, __ATOMIC_RELAXED);                                   \
  }                                                                                             \
  template <class T>                                                                            \
  void atomic_store_explicit(volatile space atomic<T>* object, T value, memory_order) {         \
    __atomic_store_n(&object->value, value, __ATOMIC_RELAXED);                                  \
  }                                                                                             \
  template <class T>                                                                            \
  T atomic_exchange_explicit(volatile space atomic<T>* object, T value, memory_order) {         \
    return __atomic_exchange_n(&object->value, value, __ATOMIC_RELAXED);                        \
  }                                                                                             \
  template <class T>                                                                            \
  bool atomic_compare_exchange_weak_explicit(volatile space atomic<T>* object, T* expected,     \
                                             T value, memory_order, memory_order) {             \
    return __atomic_compare_exchange_n(&object->value, expected, value, true, __ATOMIC_RELAXED, \
                                       __ATOMIC_RELAXED);                                       \
  }                                                                                             \
  template <class T>                                                                            \
  T atomic_fetch_add_explicit(volatile space atomic<T>* object, T value, memory_order) {        \
    return __atomic_fetch_add(&object->value, value, __ATOMIC_RELAXED);                         \
  }                                                                                             \
  template <class T>                                                                            \
  T atomic_fetch_sub_explicit(volatile space atomic<T>* object, T value, memory_order) {        \
    return __atomic_fetch_add(&object->value, -value, __ATOMIC_RELAXED);                        \
  }                                                                                             \
  template <class T>                                                                            \
  T atomic_fetch_min_explicit(volatile space atomic<T>* object, T value, memory_order) {        \
    return __atomic_fetch_min(&object->value, value, __ATOMIC_RELAXED);                         \
  }                                                                                             \
  template <class T>                                                                            \
  T atomic_fetch_max_explicit(volatile space atomic<T>* object, T value, memory_order) {        \
    return __atomic_fetch_max(&object->value, value, __ATOMIC_RELAXED);                         \
  }
RUNG_METAL_ATOMICS(device)
RUNG_METAL_ATOMICS(threadgroup)
#undef RUNG_METAL_ATOMICS

}  // namespace metal
