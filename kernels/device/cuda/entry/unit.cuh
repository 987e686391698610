#pragma once
// Selects the entries that a compilation defines. A rung with many kernels is compiled one element
// type at a time (cmake/CudaRungs.cmake, "// compiled by type"), so that compilers run in parallel
// and the library loads only the types that a program uses. For the type bf16, the build defines
// RUNG_UNIT, and RUNG_UNIT_bf16 as RUNG_THIS. Without RUNG_UNIT a compilation defines all entries.

#define RUNG_KEEP(...) __VA_ARGS__
#define RUNG_DROP(...)

// RUNG_ENTRIES_OF(bf16, entries) expands to `entries` if the compilation includes bf16.
#ifdef RUNG_UNIT
#define RUNG_THIS , RUNG_KEEP
#define RUNG_SECOND(first, second, ...) second
#define RUNG_KEEP_OR_DROP(...) RUNG_SECOND(__VA_ARGS__, RUNG_DROP, )
#define RUNG_ENTRIES_OF(suffix, ...) RUNG_KEEP_OR_DROP(RUNG_UNIT_##suffix)(__VA_ARGS__)
#else
#define RUNG_ENTRIES_OF(suffix, ...) __VA_ARGS__
#endif
