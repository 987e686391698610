#pragma once
/* OpenMP with one thread, where clang has no runtime for more: the pragmas are ignored, and these
 * are the answers of the functions (OpenMP API, "Runtime Library Routines"). */

#include <time.h>

typedef int omp_lock_t;
typedef int omp_nest_lock_t;

#ifdef __cplusplus
extern "C" {
#endif
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_in_parallel(void) { return 0; }
static inline int omp_get_dynamic(void) { return 0; }
static inline int omp_get_nested(void) { return 0; }
static inline int omp_get_level(void) { return 0; }
static inline int omp_get_num_devices(void) { return 0; }
static inline void omp_set_num_threads(int threads) { (void)threads; }
static inline void omp_set_dynamic(int dynamic) { (void)dynamic; }
static inline void omp_set_nested(int nested) { (void)nested; }
static inline void omp_init_lock(omp_lock_t* lock) { *lock = 0; }
static inline void omp_destroy_lock(omp_lock_t* lock) { (void)lock; }
static inline void omp_set_lock(omp_lock_t* lock) { *lock = 1; }
static inline void omp_unset_lock(omp_lock_t* lock) { *lock = 0; }
static inline int omp_test_lock(omp_lock_t* lock) { return *lock ? 0 : (*lock = 1); }
static inline double omp_get_wtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline double omp_get_wtick(void) { return 1e-9; }
#ifdef __cplusplus
}
#endif
