#pragma once

#if __cplusplus <= 201703L
#error "rung needs C++20: compile with -std=c++20 (C programs include rung/rung.h)"
#endif

/// Marks the symbols that the shared library exports; all others are hidden.
#define RUNG_API __attribute__((visibility("default")))
