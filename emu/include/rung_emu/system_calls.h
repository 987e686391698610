#pragma once
// Functions that device code calls and the virtual GPU carries out (PTX Writer's Guide to
// Interoperability, "System Calls").

extern "C" {
__device__ int vprintf(const char* format, const char* arguments);
__device__ int printf(const char* format, ...);  // clang packs the arguments and calls vprintf
__device__ void* malloc(size_t bytes) __attribute__((nothrow, malloc));
__device__ void free(void* pointer) __attribute__((nothrow));
__device__ void __assertfail(const char* expression, const char* file, unsigned line,
                             const char* function, size_t character_bytes);

// The function that <assert.h> calls.
__device__ static inline void __assert_fail(const char* expression, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(expression, file, line, function, sizeof(char));
}
}

namespace rung_emu {
template <bool is_wide>
struct Bits {
  using Type = int;
};
template <>
struct Bits<true> {
  using Type = long long;
};

// The form in which printf gets an argument: a small object as a number made of its bytes.
template <class T, bool is_object = __is_class(T) || __is_union(T)>
struct Printed {
  static constexpr bool is_converted = false;
  __device__ static const T& of(const T& value) { return value; }
};
template <class T>
struct Printed<T, true> {
  static constexpr bool is_converted = sizeof(T) <= 8;
  __device__ static auto of(const T& value) {
    typename Bits<(sizeof(T) > 4)>::Type bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
  }
};

template <bool is_converted>
struct Count {};
template <>
struct Count<true> {
  using Type = int;
};
}  // namespace rung_emu

// nvcc takes objects as arguments of printf; clang refuses them.
template <class... Arguments>
__device__ inline
    typename rung_emu::Count<(rung_emu::Printed<Arguments>::is_converted || ...)>::Type
    printf(const char* format, const Arguments&... arguments) {
  return ::printf(format, rung_emu::Printed<Arguments>::of(arguments)...);
}

// The function that a call of a pure virtual function reaches.
extern "C" __device__ __attribute__((weak)) inline void __cxa_pure_virtual() { __trap(); }

// The same functions: a program may use the namespace.
namespace std {
using ::free;
using ::malloc;
}  // namespace std
