#pragma once
/* Eigenvalues of symmetric and hermitian matrices, and singular values. NAME begins the names of
 * the eigenvalue calls, LETTER those of the singular values; T is the element type, R its real
 * type. CALL(name, work, parameters, arguments) once for each, as in rung_emu/cublas/level1.h. */

#define RUNG_EMU_SPECTRAL(CALL, NAME, LETTER, T, R)                                                \
  CALL(cusolverDn##NAME##evd_bufferSize, workspace_size,                                           \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n,           \
        const T* a, int lda, const R* values, int* size),                                          \
       (handle, size))                                                                             \
  CALL(cusolverDn##NAME##evd, eigenvalues,                                                         \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n, T* a,     \
        int lda, R* values, T* workspace, int size, int* info),                                    \
       (handle, mode, part, n, a, lda, values, info, 1))                                           \
  CALL(cusolverDn##NAME##evj_bufferSize, workspace_size,                                           \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n,           \
        const T* a, int lda, const R* values, int* size, syevjInfo_t parameters),                  \
       (handle, size))                                                                             \
  CALL(cusolverDn##NAME##evj, eigenvalues,                                                         \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n, T* a,     \
        int lda, R* values, T* workspace, int size, int* info, syevjInfo_t parameters),            \
       (handle, mode, part, n, a, lda, values, info, 1))                                           \
  CALL(cusolverDn##NAME##evjBatched_bufferSize, workspace_size,                                    \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n,           \
        const T* a, int lda, const R* values, int* size, syevjInfo_t parameters, int count),       \
       (handle, size))                                                                             \
  CALL(cusolverDn##NAME##evjBatched, eigenvalues,                                                  \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t part, int n, T* a,     \
        int lda, R* values, T* workspace, int size, int* info, syevjInfo_t parameters, int count), \
       (handle, mode, part, n, a, lda, values, info, count))                                       \
  CALL(cusolverDn##LETTER##gesvd_bufferSize, workspace_size,                                       \
       (cusolverDnHandle_t handle, int m, int n, int* size), (handle, size))                       \
  CALL(cusolverDn##LETTER##gesvd, singular_values_of,                                              \
       (cusolverDnHandle_t handle, signed char want_u, signed char want_v, int m, int n, T* a,     \
        int lda, R* values, T* u, int ldu, T* vt, int ldvt, T* workspace, int size,                \
        R* real_workspace, int* info),                                                             \
       (handle, want_u, want_v, m, n, a, lda, values, u, ldu, vt, ldvt, info))                     \
  CALL(cusolverDn##LETTER##gesvdj_bufferSize, workspace_size,                                      \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, int economy, int m, int n, const T* a,  \
        int lda, const R* values, const T* u, int ldu, const T* v, int ldv, int* size,             \
        gesvdjInfo_t parameters),                                                                  \
       (handle, size))                                                                             \
  CALL(cusolverDn##LETTER##gesvdj, singular_vectors,                                               \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, int economy, int m, int n, T* a,        \
        int lda, R* values, T* u, int ldu, T* v, int ldv, T* workspace, int size, int* info,       \
        gesvdjInfo_t parameters),                                                                  \
       (handle, mode, economy, m, n, a, lda, values, u, ldu, v, ldv, info, 1))                     \
  CALL(cusolverDn##LETTER##gesvdjBatched_bufferSize, workspace_size,                               \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, const T* a, int lda,      \
        const R* values, const T* u, int ldu, const T* v, int ldv, int* size,                      \
        gesvdjInfo_t parameters, int count),                                                       \
       (handle, size))                                                                             \
  CALL(cusolverDn##LETTER##gesvdjBatched, singular_vectors,                                        \
       (cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, T* a, int lda, R* values, \
        T* u, int ldu, T* v, int ldv, T* workspace, int size, int* info, gesvdjInfo_t parameters,  \
        int count),                                                                                \
       (handle, mode, 0, m, n, a, lda, values, u, ldu, v, ldv, info, count))

#define RUNG_EMU_ALL_SPECTRAL(CALL)                 \
  RUNG_EMU_SPECTRAL(CALL, Ssy, S, float, float)     \
  RUNG_EMU_SPECTRAL(CALL, Dsy, D, double, double)   \
  RUNG_EMU_SPECTRAL(CALL, Che, C, cuComplex, float) \
  RUNG_EMU_SPECTRAL(CALL, Zhe, Z, cuDoubleComplex, double)
