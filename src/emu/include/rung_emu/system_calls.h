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

// What <assert.h> calls.
__device__ static inline void __assert_fail(const char* expression, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(expression, file, line, function, sizeof(char));
}
}

// What a call of a virtual function without a body would be.
extern "C" __device__ __attribute__((weak)) inline void __cxa_pure_virtual() { __trap(); }

// The same functions: a program may use the namespace.
namespace std {
using ::free;
using ::malloc;
}  // namespace std
