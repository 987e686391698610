/* The thread limit that a program sets for librung_blas. */

#include <stdio.h>

void rung_blas_set_num_threads(int threads);
int rung_blas_get_num_threads(void);

int main(void) {
  const int usual = rung_blas_get_num_threads();
  int limited;
  rung_blas_set_num_threads(usual + 3);
  limited = rung_blas_get_num_threads();
  rung_blas_set_num_threads(0);
  if (usual > 0 && limited == usual + 3 && rung_blas_get_num_threads() == usual) return 0;
  fprintf(stderr, "limits %d, %d, %d\n", usual, limited, rung_blas_get_num_threads());
  return 1;
}
