#ifndef RUNG_CUB_SHIM_H
#define RUNG_CUB_SHIM_H
/* CUB is a library of templates: librung_cub.so has compiled the few that the bench compares with,
 * behind functions that can be found at run time. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum RungCubType { rung_cub_f32, rung_cub_f64, rung_cub_i32 };

/** CUB_VERSION: 300100 for 3.1.0. */
int rung_cub_version(void);

/** The name of a status that is not 0. */
const char* rung_cub_status_name(int status);

/** *result = the sum of x[i] * y[i], or of x[i] where y is null, all in device memory, in the
 * stream. With a null workspace, only *workspace_bytes is written: what it needs. Returns a
 * cudaError_t. */
int rung_cub_dot(enum RungCubType type, int64_t n, const void* x, const void* y, void* result,
                 void* workspace, size_t* workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif
#endif
