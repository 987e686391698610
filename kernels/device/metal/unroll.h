#pragma once

// Place before a loop whose counter indexes registers: it must be a constant in each copy of the
// body.
#define RUNG_UNROLL _Pragma("clang loop unroll(full)")
