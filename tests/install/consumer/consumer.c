#include <rung/rung.h>
#include <stdio.h>

int main(void) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4], sum;
  if (rung_gemm_f32(RUNG_ROW_MAJOR, RUNG_NO_TRANS, RUNG_NO_TRANS, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2,
                    NULL) != RUNG_OK) {
    return 1;
  }
  if (rung_dot_f32(4, a, 1, b, 1, &sum, NULL) != RUNG_OK) return 1;
  if (rung_dot_f32(-1, a, 1, b, 1, &sum, NULL) != RUNG_INVALID_ARGUMENT) return 1;
  printf("rung %s: %g %g %g %g, %g\n", rung_version(), c[0], c[1], c[2], c[3], sum);
  return 0;
}
