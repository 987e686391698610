/* The C interface for GPUs, as far as it works without one. Prints errors; exits with 1 if there
 * are any. */

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

/* An empty product of each type needs no launch. */
static void nothing_of_each_type(void) {
  const rung_order order = RUNG_COL_MAJOR;
  const rung_transpose no = RUNG_NO_TRANS;
  CHECK(rung_cuda_gemm_f32(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_f64(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_i32(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_bf16(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_f16(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_bf16_bf16(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL,
                                 NULL) == RUNG_OK);
  CHECK(rung_cuda_gemm_f16_f16(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL,
                               NULL) == RUNG_OK);
  CHECK(rung_cuda_gemm_tf32(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_i8(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_e4m3(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
  CHECK(rung_cuda_gemm_e5m2(order, no, no, 0, 3, 2, 1, NULL, 1, NULL, 2, 0, NULL, 1, NULL, NULL) ==
        RUNG_OK);
}

static void errors(void) {
  const rung_order order = RUNG_ROW_MAJOR;
  const rung_transpose no = RUNG_NO_TRANS;
  const float* a = NULL;
  float* c = NULL;
  rung_cuda_options options = RUNG_CUDA_OPTIONS_INIT;

  CHECK(rung_cuda_gemm_f32(order, no, no, 2, 3, 4, 1, a, 4, a, 3, 0, c, 3, NULL, &options) ==
        RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: gemm: C is null; it must point to 2 x 3 elements") == 0);
  CHECK(rung_cuda_gemm_f32(order, no, no, 2, 3, 4, 1, a, 4, a, 2, 0, c, 3, NULL, NULL) ==
        RUNG_INVALID_ARGUMENT);
  CHECK(strstr(rung_last_error(), "B: the leading dimension is 2") != NULL);
  options.workspace_bytes = 8;
  CHECK(rung_cuda_gemm_f32(order, no, no, 0, 3, 4, 1, a, 4, a, 3, 0, c, 3, NULL, &options) ==
        RUNG_INVALID_ARGUMENT);
  options.struct_size = 0; /* never initialised */
  CHECK(rung_cuda_gemm_f32(order, no, no, 0, 3, 4, 1, a, 4, a, 3, 0, c, 3, NULL, &options) ==
        RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(),
               "rung: struct_size of the options is 0; it must be sizeof(rung_cuda_options)") == 0);
  CHECK(strcmp(rung_status_string(RUNG_UNAVAILABLE), "not available here") == 0);
  CHECK(strcmp(rung_status_string(RUNG_DEVICE_ERROR), "device error") == 0);
}

/* Options of another version of the header. */
static void options_of_other_versions(void) {
  const rung_order order = RUNG_ROW_MAJOR;
  const rung_transpose no = RUNG_NO_TRANS;
  rung_cuda_options options = RUNG_CUDA_OPTIONS_INIT;
  struct {
    rung_cuda_options known;
    int64_t unknown;
  } newer = {RUNG_CUDA_OPTIONS_INIT, 0};
#define GEMM(options) \
  rung_cuda_gemm_f32(order, no, no, 0, 3, 4, 1, NULL, 4, NULL, 3, 0, NULL, 3, NULL, options)

  options.struct_size = offsetof(rung_cuda_options, multiprocessors);
  options.multiprocessors = -1; /* beyond the end of an older struct */
  CHECK(GEMM(&options) == RUNG_OK);
  options.struct_size = sizeof options;
  CHECK(GEMM(&options) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: gemm: multiprocessors is -1; it must be at least 0") == 0);
  options.multiprocessors = 16;
  options.compute_mode = 4;
  CHECK(GEMM(&options) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(),
               "rung: gemm: compute_mode is 4; it must be 0 (standard), 1 (split), 2 "
               "(reproducible) or 3 (batch_invariant)") == 0);
  options.compute_mode = RUNG_COMPUTE_STANDARD;
  CHECK(GEMM(&options) == RUNG_OK);

  newer.known.struct_size = sizeof newer;
  CHECK(GEMM(&newer.known) == RUNG_OK);
  newer.unknown = 1;
  CHECK(GEMM(&newer.known) == RUNG_INVALID_ARGUMENT);
  CHECK(strstr(rung_last_error(), "this version of the library knows") != NULL);
#undef GEMM
}

/* Empty tensors need no launch; others need a GPU. */
static void tensors(void) {
  const int64_t empty[] = {0, 3}, square[] = {3, 3};
  const rung_tensor a = {NULL, RUNG_DEVICE_CUDA, 0, 2, RUNG_DTYPE_E4M3, empty, NULL};
  const rung_tensor b = {NULL, RUNG_DEVICE_CUDA, 0, 2, RUNG_DTYPE_E4M3, square, NULL};
  rung_tensor c = {NULL, RUNG_DEVICE_CUDA, 0, 2, RUNG_DTYPE_F32, empty, NULL};
  CHECK(rung_gemm(&a, &b, &c, 1, 0, NULL) == RUNG_OK);
  c.dtype = RUNG_DTYPE_BF16;
  CHECK(rung_gemm(&a, &b, &c, 1, 0, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: gemm: C is bf16; with A and B of e4m3 it must be f32") ==
        0);
}

static void dot_errors(void) {
  const float* x = NULL;
  float sum = -1;
  rung_cuda_dot_options options = RUNG_CUDA_DOT_OPTIONS_INIT;

  CHECK(rung_cuda_dot_f32(3, x, 1, x, 1, &sum, NULL, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: dot: x is null; it must point to 3 elements") == 0);
  CHECK(rung_cuda_dot_f64(0, NULL, 1, NULL, 1, NULL, NULL, &options) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: dot: result is null; it must point to a number") == 0);
  CHECK(rung_cuda_dot_bf16(-1, NULL, 1, NULL, 1, &sum, NULL, &options) == RUNG_INVALID_ARGUMENT);
  options.mode = 4;
  CHECK(rung_cuda_dot_f16(0, NULL, 1, NULL, 1, &sum, NULL, &options) == RUNG_INVALID_ARGUMENT);
  CHECK(strstr(rung_last_error(), "rung: dot: mode is 4") != NULL);
  options.mode = RUNG_DOT_REPRODUCIBLE;
  options.result_on_host = 2;
  CHECK(rung_cuda_dot_f32(0, x, 1, x, 1, &sum, NULL, &options) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: result_on_host is 2; it must be 0 or 1") == 0);
  options.struct_size = 0;
  CHECK(rung_cuda_dot_f32(0, x, 1, x, 1, &sum, NULL, &options) == RUNG_INVALID_ARGUMENT);
  CHECK(sum == -1);
}

/* Calls the driver, if one is installed. */
static void release(void) {
  const rung_status status = rung_cuda_release_workspace(NULL);
  CHECK(status == RUNG_OK || status == RUNG_UNAVAILABLE);
  if (status == RUNG_OK) return;
  CHECK(strstr(rung_last_error(), "rung: no ") == rung_last_error() ||
        strstr(rung_last_error(), "rung: the NVIDIA driver here is too old") == rung_last_error());
}

int main(void) {
  nothing_of_each_type();
  errors();
  options_of_other_versions();
  tensors();
  dot_errors();
  release();
  return failures == 0 ? 0 : 1;
}
