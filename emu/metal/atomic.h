#pragma once
// <metal_atomic>. Operations are relaxed: Metal supports no other order for them.

namespace metal {

template <class T>
struct atomic {
  T value;
};

/// The name in Apple's library.
template <class T>
using _atomic = atomic<T>;

using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_float = atomic<float>;
using atomic_bool = atomic<bool>;
using atomic_ulong = atomic<ulong>;

namespace rung_detail {

/// The integer by which a value of this size is loaded, stored and exchanged.
template <class T>
using word_t = conditional_t<sizeof(T) == 8, ulong, conditional_t<sizeof(T) == 4, uint, uchar>>;

}  // namespace rung_detail

// For device and threadgroup memory. A bool is changed through the word that contains it.
#define RUNG_METAL_ATOMICS(space)                                                                  \
  template <class T>                                                                               \
  RUNG_METAL T atomic_load_explicit(const volatile space atomic<T>* object, memory_order) {        \
    using Word = rung_detail::word_t<T>;                                                           \
    return __builtin_bit_cast(                                                                     \
        T, __atomic_load_n((const volatile space Word*)&object->value, __ATOMIC_RELAXED));         \
  }                                                                                                \
  template <class T, class U>                                                                      \
  RUNG_METAL void atomic_store_explicit(volatile space atomic<T>* object, U value, memory_order) { \
    using Word = rung_detail::word_t<T>;                                                           \
    __atomic_store_n((volatile space Word*)&object->value,                                         \
                     __builtin_bit_cast(Word, static_cast<T>(value)), __ATOMIC_RELAXED);           \
  }                                                                                                \
  template <class T, class U>                                                                      \
  RUNG_METAL T atomic_exchange_explicit(volatile space atomic<T>* object, U value, memory_order) { \
    using Word = rung_detail::word_t<T>;                                                           \
    return __builtin_bit_cast(                                                                     \
        T,                                                                                         \
        __atomic_exchange_n((volatile space Word*)&object->value,                                  \
                            __builtin_bit_cast(Word, static_cast<T>(value)), __ATOMIC_RELAXED));   \
  }                                                                                                \
  template <class T, class E, class U>                                                             \
  RUNG_METAL bool atomic_compare_exchange_weak_explicit(                                           \
      volatile space atomic<T>* object, E* expected, U value, memory_order, memory_order) {        \
    using Word = rung_detail::word_t<T>;                                                           \
    Word old = __builtin_bit_cast(Word, static_cast<T>(*expected));                                \
    const bool done = __atomic_compare_exchange_n((volatile space Word*)&object->value, &old,      \
                                                  __builtin_bit_cast(Word, static_cast<T>(value)), \
                                                  true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);       \
    *expected = __builtin_bit_cast(T, old);                                                        \
    return done;                                                                                   \
  }                                                                                                \
  template <class T, class U>                                                                      \
  RUNG_METAL T atomic_fetch_add_explicit(volatile space atomic<T>* object, U value,                \
                                         memory_order) {                                           \
    return __atomic_fetch_add(&object->value, static_cast<T>(value), __ATOMIC_RELAXED);            \
  }                                                                                                \
  template <class T, class U>                                                                      \
  RUNG_METAL T atomic_fetch_sub_explicit(volatile space atomic<T>* object, U value,                \
                                         memory_order) {                                           \
    return __atomic_fetch_add(&object->value, static_cast<T>(-static_cast<T>(value)),              \
                              __ATOMIC_RELAXED);                                                   \
  }
#define RUNG_METAL_ATOMIC(space, name, operation)                                        \
  template <class T, class U>                                                            \
  RUNG_METAL T atomic_fetch_##name##_explicit(volatile space atomic<T>* object, U value, \
                                              memory_order) {                            \
    return operation(&object->value, static_cast<T>(value), __ATOMIC_RELAXED);           \
  }
#define RUNG_METAL_ATOMIC_OPERATIONS(space)         \
  RUNG_METAL_ATOMICS(space)                         \
  RUNG_METAL_ATOMIC(space, min, __atomic_fetch_min) \
  RUNG_METAL_ATOMIC(space, max, __atomic_fetch_max) \
  RUNG_METAL_ATOMIC(space, and, __atomic_fetch_and) \
  RUNG_METAL_ATOMIC(space, or, __atomic_fetch_or)   \
  RUNG_METAL_ATOMIC(space, xor, __atomic_fetch_xor)
RUNG_METAL_ATOMIC_OPERATIONS(device)
RUNG_METAL_ATOMIC_OPERATIONS(threadgroup)
#undef RUNG_METAL_ATOMIC_OPERATIONS
#undef RUNG_METAL_ATOMIC
#undef RUNG_METAL_ATOMICS

// The functions for 64 bits (section 6.15.4.6 of the specification).
template <class U>
RUNG_METAL void atomic_min_explicit(volatile device atomic<ulong>* object, U value, memory_order) {
  __atomic_fetch_min(&object->value, static_cast<ulong>(value), __ATOMIC_RELAXED);
}
template <class U>
RUNG_METAL void atomic_max_explicit(volatile device atomic<ulong>* object, U value, memory_order) {
  __atomic_fetch_max(&object->value, static_cast<ulong>(value), __ATOMIC_RELAXED);
}

// Overloads that no program may call, so that the compiler says why.
#define RUNG_METAL_NO_ATOMIC(space, T, name, why) \
  template <class U>                              \
  __attribute__((unavailable(why))) T name(volatile space atomic<T>*, U, memory_order);
#define RUNG_METAL_NO_ATOMICS(space, T, why)                                                \
  __attribute__((unavailable(why))) T atomic_load_explicit(const volatile space atomic<T>*, \
                                                           memory_order);                   \
  template <class E, class U>                                                               \
  __attribute__((unavailable(why))) bool atomic_compare_exchange_weak_explicit(             \
      volatile space atomic<T>*, E*, U, memory_order, memory_order);                        \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_store_explicit, why)                                \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_exchange_explicit, why)                             \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_fetch_add_explicit, why)                            \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_fetch_sub_explicit, why)                            \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_fetch_min_explicit, why)                            \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_fetch_max_explicit, why)                            \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_fetch_and_explicit, why)                            \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_fetch_or_explicit, why)                             \
  RUNG_METAL_NO_ATOMIC(space, T, atomic_fetch_xor_explicit, why)
#define RUNG_METAL_64_BITS                                                                     \
  "Metal has only atomic_min_explicit and atomic_max_explicit for 64 bits, in device memory: " \
  "use them, or two atomics of 32 bits"
RUNG_METAL_NO_ATOMICS(device, ulong, RUNG_METAL_64_BITS)
RUNG_METAL_NO_ATOMICS(threadgroup, ulong, RUNG_METAL_64_BITS)
RUNG_METAL_NO_ATOMIC(threadgroup, ulong, atomic_min_explicit, RUNG_METAL_64_BITS)
RUNG_METAL_NO_ATOMIC(threadgroup, ulong, atomic_max_explicit, RUNG_METAL_64_BITS)
RUNG_METAL_NO_ATOMICS(threadgroup, float,
                      "atomic_float is for device memory: use a reduction, or atomic_uint with "
                      "atomic_compare_exchange_weak_explicit")
#undef RUNG_METAL_64_BITS
#undef RUNG_METAL_NO_ATOMICS
#undef RUNG_METAL_NO_ATOMIC

}  // namespace metal
