#pragma once
// Which entries a compilation makes. A rung with many kernels is compiled one element type at a
// time (cmake/CudaRungs.cmake, "// compiled by type"), because several compilers then share the
// work, and because the library loads only the types that a program uses. For the type bf16 the
// build defines RUNG_UNIT, and RUNG_UNIT_bf16 as RUNG_THIS. Without RUNG_UNIT a compilation makes
// all entries.

#define RUNG_KEEP(...) __VA_ARGS__
#define RUNG_DROP(...)

// RUNG_ENTRIES_OF(bf16, entries) is its entries where the compilation makes those of bf16.
#ifdef RUNG_UNIT
#define RUNG_THIS , RUNG_KEEP
#define RUNG_SECOND(first, second, ...) second
#define RUNG_KEEP_OR_DROP(...) RUNG_SECOND(__VA_ARGS__, RUNG_DROP, )
#define RUNG_ENTRIES_OF(suffix, ...) RUNG_KEEP_OR_DROP(RUNG_UNIT_##suffix)(__VA_ARGS__)
#else
#define RUNG_ENTRIES_OF(suffix, ...) __VA_ARGS__
#endif
