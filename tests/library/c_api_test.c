/* The C interface, used from C99. Prints errors; exits with 1 if there are any. */

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
  const int8_t i8[] = {1, 2, -3, -4, 5, 6};
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
  CHECK(rung_gemm_i8(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_TRANS, 2, 2, 3, 2, i8, 3, i8, 3, -1, i, 2,
                     NULL) == RUNG_OK);
  CHECK(i[0] == 42 && i[1] == 8 && i[2] == 8 && i[3] == 231);
}

static void limit_of_threads(void) {
  CHECK(rung_set_num_threads(3) == RUNG_OK && rung_get_num_threads() == 3);
  CHECK(rung_set_num_threads(-1) == RUNG_INVALID_ARGUMENT && rung_get_num_threads() == 3);
  CHECK(strstr(rung_last_error(), "threads is -1") != NULL);
  CHECK(rung_set_num_threads(0) == RUNG_OK && rung_get_num_threads() > 0);
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

/* Options of another version of the header: shorter, or longer by unknown fields. */
static void options_of_other_versions(void) {
  const float x[] = {3};
  float c = -1;
  struct {
    rung_gemm_options known;
    int32_t unknown[2]; /* two, so that there is no padding with indeterminate bits */
  } newer = {RUNG_GEMM_OPTIONS_INIT, {0, 0}};
  rung_gemm_options older = RUNG_GEMM_OPTIONS_INIT;
#define GEMM(options)                                                                           \
  rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, 1, 1, 1, 1, x, 1, x, 1, 0, &c, 1, \
                options)

  older.struct_size = offsetof(rung_gemm_options, compute_mode);
  older.compute_mode = 77; /* beyond the end of an older struct */
  CHECK(GEMM(&older) == RUNG_OK && c == 9);
  older.struct_size += 2; /* half a field */
  CHECK(GEMM(&older) == RUNG_INVALID_ARGUMENT);
  older.struct_size = sizeof older;
  CHECK(GEMM(&older) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(),
               "rung: gemm: compute_mode is 77; it must be 0 (standard), 1 (split), 2 "
               "(reproducible) or 3 (batch_invariant)") == 0);

  newer.known.struct_size = sizeof newer;
  c = -1;
  CHECK(GEMM(&newer.known) == RUNG_OK && c == 9);
  newer.unknown[0] = 5;
  c = -1;
  CHECK(GEMM(&newer.known) == RUNG_INVALID_ARGUMENT && c == -1);
  CHECK(strstr(rung_last_error(), "of the options is 5; this version of the library knows") !=
        NULL);
  newer.known.struct_size = (size_t)-1; /* never initialised */
  CHECK(GEMM(&newer.known) == RUNG_INVALID_ARGUMENT);
#undef GEMM
}

static rung_tensor matrix(void* data, rung_dtype dtype, const int64_t* shape,
                          const int64_t* strides) {
  rung_tensor tensor = {NULL, RUNG_DEVICE_CPU, 0, 2, 0, NULL, NULL};
  tensor.data = data;
  tensor.dtype = (int32_t)dtype;
  tensor.shape = shape;
  tensor.strides = strides;
  return tensor;
}

static void tensors(void) {
  /* As in gemm_of_each_type(). B is A's transpose: its shape and strides exchanged. */
  float f32[] = {1, 2, 3, 4, 5, 6};
  double f64[] = {1, 2, 3, 4, 5, 6};
  int32_t i32[] = {1, 2, 3, 4, 5, 6};
  rung_bfloat16 bf16[] = {0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0};
  rung_float16 f16[] = {0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
  const int64_t shape_a[] = {2, 3}, shape_b[] = {3, 2}, shape_c[] = {2, 2};
  const int64_t strides_b[] = {1, 3};
  float c[4] = {1, 1, 1, 1};
  double d[4];
  int32_t i[4];
  rung_tensor a = matrix(f32, RUNG_DTYPE_F32, shape_a, NULL);
  rung_tensor b = matrix(f32, RUNG_DTYPE_F32, shape_b, strides_b);
  rung_tensor result = matrix(c, RUNG_DTYPE_F32, shape_c, NULL);
  rung_tensor_options options = RUNG_TENSOR_OPTIONS_INIT;

  options.threads = 1;
  CHECK(rung_gemm(&a, &b, &result, 2, 10, &options) == RUNG_OK);
  CHECK(c[0] == 38 && c[1] == 74 && c[2] == 74 && c[3] == 164);
  CHECK(rung_gemm(&a, &b, &result, 0, 0.5, NULL) == RUNG_OK);
  CHECK(c[0] == 19 && c[1] == 37 && c[2] == 37 && c[3] == 82);
  a.data = b.data = bf16;
  a.dtype = b.dtype = RUNG_DTYPE_BF16;
  CHECK(rung_gemm(&a, &b, &result, 1, 0, NULL) == RUNG_OK);
  CHECK(c[0] == 14 && c[1] == 32 && c[2] == 32 && c[3] == 77);
  a.data = b.data = f16;
  a.dtype = b.dtype = RUNG_DTYPE_F16;
  CHECK(rung_gemm(&a, &b, &result, 1, 1, NULL) == RUNG_OK);
  CHECK(c[0] == 28 && c[1] == 64 && c[2] == 64 && c[3] == 154);
  a.data = b.data = f64;
  result.data = d;
  a.dtype = b.dtype = result.dtype = RUNG_DTYPE_F64;
  CHECK(rung_gemm(&a, &b, &result, 1, 0, NULL) == RUNG_OK);
  CHECK(d[0] == 14 && d[1] == 32 && d[2] == 32 && d[3] == 77);
  a.data = b.data = i32;
  result.data = i;
  a.dtype = b.dtype = result.dtype = RUNG_DTYPE_I32;
  CHECK(rung_gemm(&a, &b, &result, -1, 0, NULL) == RUNG_OK);
  CHECK(i[0] == -14 && i[1] == -32 && i[2] == -32 && i[3] == -77);
  CHECK(rung_gemm(&a, &b, &result, 0.5, 0, NULL) == RUNG_INVALID_ARGUMENT && i[0] == -14);
  CHECK(
      strcmp(rung_last_error(),
             "rung: gemm: alpha is 0.500000; for integers it must be a whole number of 32 bits") ==
      0);
}

static void batches(void) {
  /* Two products of 1 x 2 by 2 x 1, strided and at pointers. */
  float a[] = {1, 2, 3, 4}, b[] = {1, 10}, c[2] = {0, 0};
  const int64_t shape_a[] = {2, 1, 2}, shape_b[] = {2, 2, 1}, shape_c[] = {2, 1, 1};
  const int64_t strides_b[] = {0, 1, 1};
  rung_tensor ta = matrix(a, RUNG_DTYPE_F32, shape_a, NULL);
  rung_tensor tb = matrix(b, RUNG_DTYPE_F32, shape_b, strides_b);
  rung_tensor tc = matrix(c, RUNG_DTYPE_F32, shape_c, NULL);
  float* pointers_a[] = {&a[2], &a[0]};
  float* pointers_b[] = {b, b};
  float* pointers_c[] = {&c[0], &c[1]};

  ta.ndim = tb.ndim = tc.ndim = 3;
  CHECK(rung_gemm(&ta, &tb, &tc, 1, 0, NULL) == RUNG_OK && c[0] == 21 && c[1] == 43);
  ta.ndim = 2;
  CHECK(rung_gemm(&ta, &tb, &tc, 1, 0, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: gemm: A: ndim is 2; it must be 3") == 0);

  tb.ndim = tc.ndim = 2;
  ta.shape += 1, tb.shape += 1, tc.shape += 1;
  tb.strides = NULL;
  ta.data = (void*)pointers_a, tb.data = (void*)pointers_b, tc.data = (void*)pointers_c;
  CHECK(rung_gemm_pointers(2, &ta, &tb, &tc, 1, 1, NULL) == RUNG_OK && c[0] == 64 && c[1] == 64);
  CHECK(rung_gemm_pointers(-1, &ta, &tb, &tc, 1, 1, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: count is -1; it must be at least 0") == 0);
  pointers_b[1] = NULL;
  CHECK(rung_gemm_pointers(2, &ta, &tb, &tc, 1, 1, NULL) == RUNG_INVALID_ARGUMENT && c[0] == 64);
  CHECK(strcmp(rung_last_error(),
               "rung: gemm_batched: B: pointer 1 of 2 is null; it must point to a matrix") == 0);
  tb.data = NULL;
  CHECK(rung_gemm_pointers(2, &ta, &tb, &tc, 1, 1, NULL) == RUNG_INVALID_ARGUMENT && c[0] == 64);
  CHECK(strcmp(rung_last_error(), "rung: gemm_batched: B is null; it must point to 2 matrices") ==
        0);
  CHECK(rung_gemm_pointers(2, &ta, &tb, &tc, 0, 1, NULL) == RUNG_OK && c[0] == 64);
  CHECK(rung_gemm_pointers(0, &ta, &tb, &tc, 1, 1, NULL) == RUNG_OK && c[0] == 64);
}

static void block_scales(void) {
  const int64_t of_a[2] = {2, 200}, of_b[2] = {200, 3}, by_columns[2] = {1, 200}, of_c[2] = {2, 3};
  const int64_t a_blocks[2] = {2, 2}, b_blocks[2] = {2, 1};
  rung_float8_e4m3 x[600];
  float a_scales[4] = {1, 2, 3, 4}, b_scales[2] = {10, 100}, c[6] = {0};
  rung_tensor a, b, scales_a, scales_b, result;
  memset(x, 0x38, sizeof x); /* 1 */
  a = matrix(x, RUNG_DTYPE_E4M3, of_a, NULL);
  b = matrix(x, RUNG_DTYPE_E4M3, of_b, by_columns);
  scales_a = matrix(a_scales, RUNG_DTYPE_F32, a_blocks, NULL);
  scales_b = matrix(b_scales, RUNG_DTYPE_F32, b_blocks, NULL);
  result = matrix(c, RUNG_DTYPE_F32, of_c, NULL);
  CHECK(rung_gemm_block_scaled(&a, &scales_a, &b, &scales_b, &result, NULL, 1, 0, NULL) == RUNG_OK);
  CHECK(c[0] == 128 * 10 + 72 * 200 && c[5] == 128 * 30 + 72 * 400);
  CHECK(rung_gemm_block_scaled(&a, &a, &b, &scales_b, &result, NULL, 1, 0, NULL) ==
        RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: gemm: A_scales is e4m3; it must be f32") == 0);
}

static void weight_only(void) {
  const int64_t of_a[2] = {1, 128}, of_c[2] = {1, 2}, of_scales[2] = {2, 1};
  rung_bfloat16 x[128];
  unsigned char elements[128];
  float scales[2] = {1, 0.5f}, c[2] = {3, 5};
  rung_tensor a, result, of_weights;
  rung_quantized_weights weights = {0};
  rung_packed_weights packed = {0};
  size_t bytes = 0;
  char memory[8192 + 16];
  void* const aligned = memory + (16 - (size_t)memory % 16);
  int i;
  for (i = 0; i < 128; ++i) x[i] = 0x3F80; /* 1 */
  memset(elements, 0xF1, sizeof elements); /* 1 and -1, then 3 for half of the second row */
  memset(elements + 64, 0x33, 32);
  a = matrix(x, RUNG_DTYPE_BF16, of_a, NULL);
  result = matrix(c, RUNG_DTYPE_F32, of_c, NULL);
  of_weights = matrix(scales, RUNG_DTYPE_F32, of_scales, NULL);
  weights.elements = elements;
  weights.bits = 4;
  weights.n = 2, weights.k = 128, weights.group = 128;
  weights.scales = &of_weights;
  CHECK(rung_gemm_weight_only(&a, &packed, &result, 1, 0, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(),
               "rung: gemm_weight_only: the weights are not packed; pack_weights() must make "
               "them") == 0);
  CHECK(rung_packed_weights_bytes(&weights, &bytes) == RUNG_OK && bytes <= 8192);
  CHECK(rung_pack_weights(&weights, aligned, &packed, NULL) == RUNG_OK && packed.data == aligned);
  CHECK(rung_gemm_weight_only(&a, &packed, &result, 1, 1, NULL) == RUNG_OK);
  CHECK(c[0] == 3 && c[1] == 5 + 0.5f * 3 * 64);
  weights.group = 100;
  CHECK(rung_packed_weights_bytes(&weights, &bytes) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: pack_weights: group is 100; it must be 64 or 128") == 0);
  CHECK(rung_packed_weights_bytes(NULL, &bytes) == RUNG_INVALID_ARGUMENT);
  CHECK(rung_pack_weights(&weights, aligned, NULL, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(rung_gemm_weight_only(&a, NULL, &result, 1, 0, NULL) == RUNG_INVALID_ARGUMENT);
}

static void tensor_errors(void) {
  float x[4] = {1, 2, 3, 4}, c[4] = {-1, -1, -1, -1};
  const int64_t shape[] = {2, 2}, other_shape[] = {2, 1}, strides[] = {4, 2};
  const int64_t overlapping[] = {0, 1};
  rung_tensor a = matrix(x, RUNG_DTYPE_F32, shape, NULL);
  rung_tensor b = a, result = matrix(c, RUNG_DTYPE_F32, shape, NULL);
  rung_tensor_options options = RUNG_TENSOR_OPTIONS_INIT;
#define REFUSED(message)                                                       \
  CHECK(rung_gemm(&a, &b, &result, 1, 0, &options) == RUNG_INVALID_ARGUMENT && \
        strcmp(rung_last_error(), "rung: " message) == 0 && c[0] == -1 && c[3] == -1)

  CHECK(rung_gemm(NULL, &b, &result, 1, 0, NULL) == RUNG_INVALID_ARGUMENT);
  CHECK(strcmp(rung_last_error(), "rung: gemm: A is null; it must point to a rung_tensor") == 0);
  a.dtype = 9;
  REFUSED("gemm: A: dtype is 9; it must be a rung_dtype, 0 to 8");
  a.dtype = RUNG_DTYPE_F64;
  REFUSED("gemm: A is f64, B is f32; they must have the same type");
  a.dtype = b.dtype = RUNG_DTYPE_BF16;
  result.dtype = RUNG_DTYPE_F16;
  REFUSED("gemm: C is f16; with A and B of bf16 it must be f32 or bf16");
  a.dtype = b.dtype = RUNG_DTYPE_TF32;
  result.dtype = RUNG_DTYPE_F32;
  CHECK(rung_gemm(&a, &b, &result, 1, 0, NULL) == RUNG_UNAVAILABLE && c[0] == -1);
  CHECK(strcmp(rung_last_error(),
               "rung: gemm: no kernel of tf32 for CPUs; f32, f64, i32, bf16, f16, i8, e4m3 and "
               "e5m2 have one") == 0);
  a.dtype = b.dtype = result.dtype = RUNG_DTYPE_F32;
  b.device_type = RUNG_DEVICE_CUDA;
  b.device_id = 3;
  REFUSED("gemm: B is on GPU 3, C on the CPU; all must be on the same device");
  b.device_type = 8;
  REFUSED("gemm: B: device_type is 8; it must be 1 (CPU) or 2 (CUDA)");
  b.device_type = RUNG_DEVICE_CPU;
  REFUSED("gemm: B: device_id is 3; that of the CPU must be 0");
  b.device_id = 0;
  b.ndim = 3;
  REFUSED("gemm: B: ndim is 3; it must be 2");
  b.ndim = 2;
  b.shape = NULL;
  REFUSED("gemm: B: shape is null; it must point to 2 extents");
  b.shape = other_shape;
  REFUSED("gemm: A is 2 x 2, B is 2 x 1, C is 2 x 2; they must be m x k, k x n and m x n");
  b.shape = shape;
  b.strides = strides;
  REFUSED("gemm: B: strides are 4 and 2; one of them must be 1");
  b.strides = overlapping;
  REFUSED("gemm: B: the leading dimension is 0; it must be at least 2, the columns (row-major)");
  b.strides = NULL;
  b.data = NULL;
  REFUSED("gemm: B is null; it must point to 2 x 2 elements");
  b.data = x;
  options.compute_mode = 4;
  REFUSED(
      "gemm: compute_mode is 4; it must be 0 (standard), 1 (split), 2 (reproducible) or 3 "
      "(batch_invariant)");
  options.compute_mode = RUNG_COMPUTE_STANDARD;
  options.threads = -1;
  REFUSED("gemm: threads is -1; it must be at least 0");
  options.threads = 0;
  options.reserved = 1;
  REFUSED("reserved of the options is 1; it must be 0");
  options.reserved = 0;
  CHECK(rung_gemm(&a, &b, &result, 1, 0, &options) == RUNG_OK && c[0] == 7);
#undef REFUSED
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
  CHECK(strstr(rung_last_error(), "result is null") != NULL); /* unchanged by success */
  CHECK(strcmp(rung_status_string(RUNG_INVALID_ARGUMENT), "invalid argument") == 0);
  CHECK(strcmp(rung_status_string(99), "unknown status") == 0);
}

int main(void) {
  CHECK(strcmp(rung_last_error(), "") == 0);
  gemm_of_each_type();
  limit_of_threads();
  dot_of_each_type();
  options();
  options_of_other_versions();
  tensors();
  batches();
  block_scales();
  weight_only();
  tensor_errors();
  errors();
  return failures == 0 ? 0 : 1;
}
