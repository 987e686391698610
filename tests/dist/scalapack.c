/* Run by mpirun: makes the same calls of pdgemm and psgemm to librung_scalapack, which this
   program links, and to the distribution's ScaLAPACK. The inputs are small integers, so the
   results must be equal. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void Cblacs_get(int, int, int*);
void Cblacs_gridinit(int*, const char*, int, int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
void Cblacs_gridexit(int);
int numroc_(const int*, const int*, const int*, const int*, const int*);
void descinit_(int*, const int*, const int*, const int*, const int*, const int*, const int*,
               const int*, const int*, int*);

#define PGEMM(T)                                                                                \
  const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*, \
      const int*, const int*, const T*, const int*, const int*, const int*, const T*, T*,       \
      const int*, const int*, const int*
void pdgemm_(PGEMM(double));
void psgemm_(PGEMM(float));
static void (*their_pdgemm)(PGEMM(double));
static void (*their_psgemm)(PGEMM(float));

struct matrix {
  int rows, cols, block_rows, block_cols, row_source, col_source; /* of the whole matrix */
  int first_row, first_col;                                       /* of the submatrix, from 1 */
  int descriptor[9];
  size_t elements;
  double* values;
  float* floats;
};

static void make(struct matrix* x, int context, int seed) {
  int rows, cols, row, col, info;
  Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  int ld = numroc_(&x->rows, &x->block_rows, &row, &x->row_source, &rows) + 2;
  int local_cols = numroc_(&x->cols, &x->block_cols, &col, &x->col_source, &cols);
  descinit_(x->descriptor, &x->rows, &x->cols, &x->block_rows, &x->block_cols, &x->row_source,
            &x->col_source, &context, &ld, &info);
  x->elements = (size_t)ld * (size_t)local_cols;
  x->values = malloc((x->elements + 1) * sizeof(double));
  x->floats = malloc((x->elements + 1) * sizeof(float));
  srand((unsigned)(seed + 97 * row + 31 * col));
  for (size_t i = 0; i < x->elements; ++i) {
    x->values[i] = rand() % 9 - 4;
    x->floats[i] = (float)x->values[i];
  }
}

static void release(struct matrix* x) {
  free(x->values);
  free(x->floats);
}

static int compare(int context, const char* opa, const char* opb, int m, int n, int k, int seed) {
  const int wide = 3 + seed % 4;
  const int ta = *opa != 'N', tb = *opb != 'N';
  struct matrix a = {(ta ? k : m) + 5, (ta ? m : k) + 6, 4, wide, 0, 0, 3, 5, {0}, 0, 0, 0};
  struct matrix b = {(tb ? n : k) + 4, (tb ? k : n) + 7, wide, 5, 0, 0, 4, 2, {0}, 0, 0, 0};
  struct matrix c = {m + 9, n + 3, 4, 5, 0, 0, 8, 3, {0}, 0, 0, 0};
  make(&a, context, seed);
  make(&b, context, seed + 1);
  make(&c, context, seed + 2);
  struct matrix d = c;
  d.values = malloc((c.elements + 1) * sizeof(double));
  d.floats = malloc((c.elements + 1) * sizeof(float));
  memcpy(d.values, c.values, c.elements * sizeof(double));
  memcpy(d.floats, c.floats, c.elements * sizeof(float));
  const double alpha = 2, beta = -1;
  const float alpha_f = 2, beta_f = -1;
#define ARGUMENTS(al, be, field, to)                                                         \
  opa, opb, &m, &n, &k, &al, a.field, &a.first_row, &a.first_col, a.descriptor, b.field,     \
      &b.first_row, &b.first_col, b.descriptor, &be, to.field, &to.first_row, &to.first_col, \
      to.descriptor
  pdgemm_(ARGUMENTS(alpha, beta, values, c));
  their_pdgemm(ARGUMENTS(alpha, beta, values, d));
  psgemm_(ARGUMENTS(alpha_f, beta_f, floats, c));
  their_psgemm(ARGUMENTS(alpha_f, beta_f, floats, d));
  int wrong = 0;
  for (size_t i = 0; i < c.elements; ++i) {
    if (c.values[i] != d.values[i] || c.floats[i] != d.floats[i]) wrong = 1;
  }
  if (wrong) printf("%s%s %d x %d x %d differs\n", opa, opb, m, n, k);
  release(&a);
  release(&b);
  release(&c);
  release(&d);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, context;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void* theirs = dlopen(RUNG_SCALAPACK, RTLD_NOW);
  *(void**)&their_pdgemm = dlsym(theirs, "pdgemm_");
  *(void**)&their_psgemm = dlsym(theirs, "psgemm_");
  if (their_pdgemm == NULL || their_pdgemm == pdgemm_) {
    printf("the program does not call librung_scalapack's pdgemm_\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int columns_first = 0; columns_first < 2; ++columns_first) {
    for (int rows = 1; rows <= ranks; ++rows) {
      if (ranks % rows != 0) continue;
      Cblacs_get(0, 0, &context);
      Cblacs_gridinit(&context, columns_first ? "Col" : "Row", rows, ranks / rows);
      int seed = 0;
      for (const char* opa = "NTC"; *opa; ++opa) {
        for (const char* opb = "NT"; *opb; ++opb) {
          const char op_a[2] = {*opa, 0}, op_b[2] = {*opb, 0};
          wrong |= compare(context, op_a, op_b, 23, 19, 31, seed);
          wrong |= compare(context, op_a, op_b, 1, 40, 8, seed++);
        }
      }
      Cblacs_gridexit(context);
    }
  }
  if (argc > 1) { /* an invalid argument: the program ends on all ranks */
    int d[9] = {1, 0, 8, 8, 4, 4, 0, 0, 8}, one = 1, eight = 8, nine = 9;
    double x[64] = {0}, scale = 1;
    Cblacs_get(0, 0, &context);
    Cblacs_gridinit(&context, "Row", 1, ranks);
    d[1] = context;
    pdgemm_("N", "N", &nine, &eight, &eight, &scale, x, &one, &one, d, x, &one, &one, d, &scale, x,
            &one, &one, d);
  }
  MPI_Finalize();
  return wrong;
}
