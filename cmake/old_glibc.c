/* Functions that glibc gave a new version after 2.28, under their old versions, for x86-64
 * (OldGlibc.cmake). Each is defined here, hidden, for the calls of one program or library, those of its
 * static libstdc++ included, and calls the old version, which every glibc has. */

#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* of pthread_setspecific's value */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* NAME with these parameters is a call of NAME@VERSION. */
#define OLD(version, type, name, parameters, arguments)       \
  extern type old_##name parameters;                          \
  __asm__(".symver old_" #name ", " #name "@GLIBC_" version); \
  HIDDEN type name parameters { return old_##name arguments; }

/* 2.29 and 2.35: without the wrappers that set errno. */
OLD("2.2.5", double, exp, (double x), (x))
OLD("2.2.5", double, exp2, (double x), (x))
OLD("2.2.5", double, log, (double x), (x))
OLD("2.2.5", double, log2, (double x), (x))
OLD("2.2.5", double, pow, (double x, double y), (x, y))
OLD("2.2.5", double, hypot, (double x, double y), (x, y))
OLD("2.2.5", float, hypotf, (float x, float y), (x, y))

/* 2.34: from libdl and libpthread to libc. */
OLD("2.2.5", void*, dlopen, (const char* file, int mode), (file, mode))
OLD("2.2.5", int, dlclose, (void* handle), (handle))
OLD("2.2.5", char*, dlerror, (void), ())
OLD("2.2.5", void*, dlsym, (void* restrict handle, const char* restrict name), (handle, name))
OLD("2.2.5", int, dladdr, (const void* address, Dl_info* info), (address, info))
OLD("2.3.3", int, dladdr1, (const void* address, Dl_info* info, void** extra, int flags),
    (address, info, extra, flags))
OLD("2.2.5", int, pthread_create,
    (pthread_t* restrict thread, const pthread_attr_t* restrict attributes, void* (*start)(void*),
     void* restrict argument),
    (thread, attributes, start, argument))
OLD("2.2.5", int, pthread_detach, (pthread_t thread), (thread))
OLD("2.2.5", int, pthread_join, (pthread_t thread, void** result), (thread, result))
OLD("2.2.5", int, pthread_once, (pthread_once_t * once, void (*function)(void)), (once, function))
OLD("2.2.5", int, pthread_key_create, (pthread_key_t * key, void (*destroy)(void*)), (key, destroy))
OLD("2.2.5", int, __pthread_key_create, (pthread_key_t * key, void (*destroy)(void*)),
    (key, destroy))
OLD("2.2.5", int, pthread_key_delete, (pthread_key_t key), (key))
OLD("2.2.5", void*, pthread_getspecific, (pthread_key_t key), (key))
OLD("2.2.5", int, pthread_setspecific, (pthread_key_t key, const void* value), (key, value))
OLD("2.2.5", int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
OLD("2.2.5", int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
OLD("2.2.5", int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
OLD("2.2.5", int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
OLD("2.3.4", int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t* set),
    (thread, size, set))
OLD("2.2.5", int, pthread_sigmask, (int how, const sigset_t* restrict set, sigset_t* restrict old),
    (how, set, old))

/* 2.32: whether shared pointers may do without atomic operations; always with them. */
HIDDEN char __libc_single_threaded = 0;

/* 2.36: of libstdc++'s std::random_device. */
HIDDEN unsigned arc4random(void) {
  unsigned value;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}

/* 2.33: functions; before, macros on these. The same for files of more than 2 GiB, on x86-64. */
enum { stat_version = 1 };
extern int __xstat(int version, const char* path, struct stat* result);
extern int __lxstat(int version, const char* path, struct stat* result);
extern int __fxstat(int version, int file, struct stat* result);
extern int __fxstatat(int version, int folder, const char* path, struct stat* result, int flags);

HIDDEN int stat(const char* restrict path, struct stat* restrict result) {
  return __xstat(stat_version, path, result);
}
HIDDEN int lstat(const char* restrict path, struct stat* restrict result) {
  return __lxstat(stat_version, path, result);
}
HIDDEN int fstat(int file, struct stat* result) { return __fxstat(stat_version, file, result); }
HIDDEN int fstatat(int folder, const char* restrict path, struct stat* restrict result, int flags) {
  return __fxstatat(stat_version, folder, path, result, flags);
}
HIDDEN int stat64(const char* path, struct stat64* result) {
  return __xstat(stat_version, path, (struct stat*)result);
}
HIDDEN int lstat64(const char* path, struct stat64* result) {
  return __lxstat(stat_version, path, (struct stat*)result);
}
HIDDEN int fstat64(int file, struct stat64* result) {
  return __fxstat(stat_version, file, (struct stat*)result);
}

/* 2.34: runs the constructors of a program itself. Before, the program passes a function for that, and
 * so does this, which every glibc calls. Weak: libraries have no such array. */
typedef void (*Constructor)(int, char**, char**);
extern const Constructor __init_array_start[] HIDDEN __attribute__((weak));
extern const Constructor __init_array_end[] HIDDEN __attribute__((weak));
extern void _init(void) HIDDEN __attribute__((weak));
typedef int (*Main)(int, char**, char**);
extern int old_libc_start_main(Main main, int argc, char** argv, Constructor init,
                               void (*fini)(void), void (*rtld_fini)(void), void* stack_end);
__asm__(".symver old_libc_start_main, __libc_start_main@GLIBC_2.2.5");

static void run_constructors(int argc, char** argv, char** environment) {
  if (_init) _init();
  for (const Constructor* each = __init_array_start; each != __init_array_end; ++each) {
    (*each)(argc, argv, environment);
  }
}

HIDDEN int __libc_start_main(Main main, int argc, char** argv, Constructor init, void (*fini)(void),
                             void (*rtld_fini)(void), void* stack_end) {
  (void)init;
  return old_libc_start_main(main, argc, argv, run_constructors, fini, rtld_fini, stack_end);
}
