#pragma once

// Before a loop whose counter indexes registers: it must be known in each copy of the body.
#define RUNG_UNROLL _Pragma("clang loop unroll(full)")
