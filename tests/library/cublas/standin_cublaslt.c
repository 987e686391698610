#include "standin_cublaslt.h"

#include <stdio.h>
#include <string.h>

static int count;
int standin_products(void) { return count; }

static int get(const standin_descriptor* of, int attribute, void* value, size_t bytes,
               size_t* written) {
  if (attribute < 0 || attribute >= 48 || of->bytes[attribute] == 0) return 7;
  *written = of->bytes[attribute];
  if (bytes < *written) return 7;
  memcpy(value, &of->value[attribute], *written);
  return 0;
}
int cublasLtMatmulDescGetAttribute(const standin_descriptor* of, int attribute, void* value,
                                   size_t bytes, size_t* written) {
  return get(of, attribute, value, bytes, written);
}
int cublasLtMatrixLayoutGetAttribute(const standin_descriptor* of, int attribute, void* value,
                                     size_t bytes, size_t* written) {
  return get(of, attribute, value, bytes, written);
}

int cublasLtMatmul(void* handle, const void* descriptor, const void* alpha, const void* a,
                   const void* a_layout, const void* b, const void* b_layout, const void* beta,
                   const void* c, const void* c_layout, void* d, const void* d_layout,
                   const void* algorithm, void* workspace, size_t workspace_bytes, void* stream) {
  (void)handle, (void)descriptor, (void)alpha, (void)a, (void)a_layout, (void)b, (void)b_layout;
  (void)beta, (void)c, (void)c_layout, (void)d, (void)d_layout, (void)algorithm, (void)workspace;
  ++count;
  return printf("lt matmul %d %d\n", (int)workspace_bytes, (int)(size_t)stream) < 0;
}
