/* The C interface as a C99 program sees it. Prints what is wrong; exits with 1 if anything is. */

#include <rung/rung.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: not true: %s (last error: %s)\n", line, what, rung_last_error());
  ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static void gemm_of_each_type(void) {
  /* [1 2 3; 4 5 6] times its transpose is [14 32; 32 77]. */
  const float f32[] = {1, 2, 3, 4, 5, 6};
  const double f64[] = {1, 2, 3, 4, 5, 6};
  const int32_t i32[] = {1, 2, 3, 4, 5, 6};
  const rung_bfloat16 bf16[] = {0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0};
  const rung_float16 f16[] = {0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
  float c[4] = {1, 1, 1, 1};
  double d[4];
  int32_t i[4];

  CHECK(rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_TRANS, 2, 2, 3, 2, f32, 3, f32, 3, 10, c,
                      2, NULL) == RUNG_OK);
  CHECK(c[0] == 38 && c[1] == 74 && c[2] == 74 && c[3] == 164);
  CHECK(rung_gemm_f64(RUNG_COL_MAJOR, RUNG_TRANS, RUNG_NO_TRANS, 2, 2, 3, 1, f64, 3, f64, 3, 0, d,
                      2, NULL) == RUNG_OK);
  CHECK(d[0] == 14 && d[1] == 32 && d[2] == 32 && d[3] == 77);
  CHECK(rung_gemm_i32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_TRANS, 2, 2, 3, -1, i32, 3, i32, 3, 0, i,
                      2, NULL) == RUNG_OK);
  CHECK(i[0] == -14 && i[1] == -32 && i[2] == -32 && i[3] == -77);
  CHECK(rung_gemm_bf16(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_TRANS, 2, 2, 3, 1, bf16, 3, bf16, 3, 0,
                       c, 2, NULL) == RUNG_OK);
  CHECK(c[0] == 14 && c[1] == 32 && c[2] == 32 && c[3] == 77);
  CHECK(rung_gemm_f16(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_TRANS, 2, 2, 3, 1, f16, 3, f16, 3, 1, c,
                      2, NULL) == RUNG_OK);
  CHECK(c[0] == 28 && c[1] == 64 && c[2] == 64 && c[3] == 154);
}

static void dot_of_each_type(void) {
  const float f32[] = {1, 2, 3};
  const double f64[] = {1, 2, 3};
  const rung_bfloat16 bf16[] = {0x3F80, 0x4000, 0x4040};
  const rung_float16 f16[] = {0x3C00, 0x4000, 0x4200};
  float s = 0;
  double d = 0;

  CHECK(rung_dot_f32(3, f32, 1, f32, -1, &s, NULL) == RUNG_OK && s == 10);
  CHECK(rung_dot_f64(2, f64, 2, f64, 1, &d, NULL) == RUNG_OK && d == 7);
  CHECK(rung_dot_bf16(3, bf16, 1, bf16, 1, &s, NULL) == RUNG_OK && s == 14);
  CHECK(rung_dot_f16(3, f16, 1, f16, 1, &s, NULL) == RUNG_OK && s == 14);
}

static void options(void) {
  const float x[] = {1, 2, 3};
  float s = -1;
  rung_dot_options dot_options = RUNG_DOT_OPTIONS_INIT;
  rung_gemm_options gemm_options = RUNG_GEMM_OPTIONS_INIT;

  dot_options.threads = 1;
  dot_options.mode = RUNG_DOT_COMPENSATED;
  CHECK(rung_dot_f32(3, x, 1, x, 1, &s, &dot_options) == RUNG_OK && s == 14);
  dot_options.mode = RUNG_DOT_REPRODUCIBLE;
  CHECK(rung_dot_f32(3, x, 1, x, 1, &s, &dot_options) == RUNG_OK && s == 14);

  s = -1;
  dot_options.mode = 5;
  CHECK(rung_dot_f32(3, x, 1, x, 1, &s, &dot_options) == RUNG_INVALID_ARGUMENT && s == -1);
  CHECK(strcmp(rung_last_error(),
               "rung: dot: mode is 5; it must be 0 (fast), 1 (deterministic), 2 (compensated) or 3 "
               "(reproducible)") == 0);

  gemm_options.threads = -1;
  CHECK(rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, 1, 1, 1, 1, x, 1, x, 1, 0, &s,
                      1, &gemm_options) == RUNG_INVALID_ARGUMENT &&
        s == -1);
  CHECK(strcmp(rung_last_error(), "rung: gemm: threads is -1; it must be at least 0") == 0);

  gemm_options.struct_size = 0; /* never initialised */
  CHECK(rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, 1, 1, 1, 1, x, 1, x, 1, 0, &s,
                      1, &gemm_options) == RUNG_INVALID_ARGUMENT &&
        s == -1);
  CHECK(strcmp(rung_last_error(),
               "rung: struct_size of the options is 0; it must be sizeof(rung_gemm_options)") == 0);
}

static void errors(void) {
  const float x[4] = {1, 2, 3, 4};
  float c[4] = {-1, -1, -1, -1};

  CHECK(rung_gemm_f32((rung_order)7, RUNG_NO_TRANS, RUNG_NO_TRANS, 2, 2, 2, 1, x, 2, x, 2, 0, c, 2,
                      NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(),
               "rung: order is 7; it must be 101 (RUNG_ROW_MAJOR) or 102 (RUNG_COL_MAJOR)") == 0);
  CHECK(rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, (rung_transpose)0, 2, 2, 2, 1, x, 2, x, 2, 0,
                      c, 2, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(),
               "rung: trans_b is 0; it must be 111 (RUNG_NO_TRANS) or 112 (RUNG_TRANS)") == 0);
  CHECK(rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, 2, -2, 2, 1, x, 2, x, 2, 0, c,
                      2, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: gemm: B: columns is -2; it must be at least 0") == 0);
  CHECK(rung_dot_f32(1, x, 1, x, 1, NULL, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: dot: result is null; it must point to a number") == 0);
  CHECK(c[0] == -1 && c[3] == -1);

  CHECK(rung_dot_f32(4, x, 1, x, 1, c, NULL) == RUNG_OK);
  CHECK(strstr(rung_last_error(), "result is null") != NULL); /* success leaves it */
  CHECK(strcmp(rung_status_string(RUNG_INVALID_ARGUMENT), "invalid argument") == 0);
  CHECK(strcmp(rung_status_string(99), "unknown status") == 0);
}

int main(void) {
  CHECK(strcmp(rung_last_error(), "") == 0);
  gemm_of_each_type();
  dot_of_each_type();
  options();
  errors();
  return failures == 0 ? 0 : 1;
}
