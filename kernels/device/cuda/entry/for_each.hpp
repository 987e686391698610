#pragma once
// Loops over lists in macros. Kernel entries have C names, which templates cannot generate.

// RUNG_FOR_EACH(DO, a, b, c, x, y, …) expands to DO(a, b, c, x) DO(a, b, c, y) …. The preprocessor
// does not expand a macro within itself. Each step therefore leaves the name of the next step
// without its parentheses, and each further scan by RUNG_SCAN performs one more step: 64 in total.
#define RUNG_PARENTHESES ()
#define RUNG_FOR_EACH(DO, a, b, c, ...) __VA_OPT__(RUNG_SCAN(RUNG_STEP(DO, a, b, c, __VA_ARGS__)))
#define RUNG_STEP(DO, a, b, c, first, ...) \
  DO(a, b, c, first) __VA_OPT__(RUNG_NEXT_STEP RUNG_PARENTHESES(DO, a, b, c, __VA_ARGS__))
#define RUNG_NEXT_STEP() RUNG_STEP
#define RUNG_SCAN(...) RUNG_SCAN_16(RUNG_SCAN_16(RUNG_SCAN_16(RUNG_SCAN_16(__VA_ARGS__))))
#define RUNG_SCAN_16(...) RUNG_SCAN_4(RUNG_SCAN_4(RUNG_SCAN_4(RUNG_SCAN_4(__VA_ARGS__))))
#define RUNG_SCAN_4(...) RUNG_SCAN_1(RUNG_SCAN_1(RUNG_SCAN_1(RUNG_SCAN_1(__VA_ARGS__))))
#define RUNG_SCAN_1(...) __VA_ARGS__

// RUNG_FOR_EACH_ROW(DO, a, (x, …), (y, …)) expands to DO(a, x, …) DO(a, y, …), with at most 16
// rows. DO may use RUNG_FOR_EACH.
#define RUNG_FOR_EACH_ROW(DO, a, ...) __VA_OPT__(RUNG_SCAN_ROWS(RUNG_ROW_STEP(DO, a, __VA_ARGS__)))
#define RUNG_ROW_STEP(DO, a, row, ...) \
  RUNG_CALL(DO, a, RUNG_UNPACK row)    \
  __VA_OPT__(RUNG_NEXT_ROW_STEP RUNG_PARENTHESES(DO, a, __VA_ARGS__))
#define RUNG_NEXT_ROW_STEP() RUNG_ROW_STEP
#define RUNG_CALL(DO, ...) DO(__VA_ARGS__)
#define RUNG_UNPACK(...) __VA_ARGS__
#define RUNG_SCAN_ROWS(...) \
  RUNG_SCAN_4_ROWS(RUNG_SCAN_4_ROWS(RUNG_SCAN_4_ROWS(RUNG_SCAN_4_ROWS(__VA_ARGS__))))
#define RUNG_SCAN_4_ROWS(...) \
  RUNG_SCAN_ROW(RUNG_SCAN_ROW(RUNG_SCAN_ROW(RUNG_SCAN_ROW(__VA_ARGS__))))
#define RUNG_SCAN_ROW(...) __VA_ARGS__
