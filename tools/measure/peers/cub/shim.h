#ifndef RUNG_CUB_SHIM_H
#define RUNG_CUB_SHIM_H
/* CUB is a library of templates. librung_cub.so contains the instances that benchmarks use, as C
 * functions that can be loaded at run time. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum RungCubType { rung_cub_f32, rung_cub_f64, rung_cub_i32 };

/** CUB_VERSION: 300100 for 3.1.0. */
int rung_cub_version(void);

/** The name of a status other than 0. */
const char* rung_cub_status_name(int status);

/** Stores the sum of x[i] * y[i], or of x[i] if y is null, to *result, asynchronously in `stream`.
 * All pointers except workspace_bytes are to device memory. If workspace is null, only stores the
 * required size of the workspace to *workspace_bytes. Returns a cudaError_t. */
int rung_cub_dot(enum RungCubType type, int64_t n, const void* x, const void* y, void* result,
                 void* workspace, size_t* workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif
#endif
