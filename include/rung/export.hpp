#pragma once

/// Marks the symbols that the shared library exports; all others are hidden.
#define RUNG_API __attribute__((visibility("default")))
