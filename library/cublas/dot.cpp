// The dot products of cuBLAS.

#include "library/cublas/handle.hpp"
#include "library/cublas/products.hpp"
#include "library/cublas/real.hpp"

namespace rung::cublas {
namespace {

template <class T, class Result>
using Function = rung_status(std::int64_t, const T*, std::int64_t, const T*, std::int64_t, Result*,
                             void*, const rung_cuda_dot_options*);

template <class T, class Result>
int call(Handle handle, Function<T, Result>* function, std::int64_t n, const void* x,
         std::int64_t incx, const void* y, std::int64_t incy, void* result) {
  const std::optional<State> state = state_of(handle);
  if (!state) return unanswered;
  rung_cuda_dot_options options = RUNG_CUDA_DOT_OPTIONS_INIT;
  options.result_on_host = state->pointer_mode == host_pointers ? 1 : 0;
  if (n < 0) n = 0;  // as in BLAS
  return answer(function(n, static_cast<const T*>(x), incx, static_cast<const T*>(y), incy,
                         static_cast<Result*>(result), state->stream, &options));
}

int dot_of(Handle handle, int type, int result_type, int execution, std::int64_t n, const void* x,
           std::int64_t incx, const void* y, std::int64_t incy, void* result) {
  if (type == r_64f && result_type == r_64f && execution == r_64f) {
    return call(handle, rung_cuda_dot_f64, n, x, incx, y, incy, result);
  }
  if (result_type != r_32f || execution != r_32f) return unanswered;
  switch (type) {
    case r_32f: return call(handle, rung_cuda_dot_f32, n, x, incx, y, incy, result);
    case r_16bf: return call(handle, rung_cuda_dot_bf16, n, x, incx, y, incy, result);
    case r_16f: return call(handle, rung_cuda_dot_f16, n, x, incx, y, incy, result);
    default: return unanswered;
  }
}

template <class T, class Int>
int plain(const char* name, int type, Handle handle, Int n, const T* x, Int incx, const T* y,
          Int incy, T* result) {
  const int answered = dot_of(handle, type, type, type, n, x, incx, y, incy, result);
  if (answered != unanswered) return answered;
  if (handle == nullptr) return not_initialized;
  return pass_on(name, handle, n, x, incx, y, incy, result);
}

template <class Int>
int ex(const char* name, Handle handle, Int n, const void* x, int x_type, Int incx, const void* y,
       int y_type, Int incy, void* result, int result_type, int execution) {
  if (x_type == y_type) {
    const int answered =
        dot_of(handle, x_type, result_type, execution, n, x, incx, y, incy, result);
    if (answered != unanswered) return answered;
  }
  if (handle == nullptr) return not_initialized;
  return pass_on(name, handle, n, x, x_type, incx, y, y_type, incy, result, result_type, execution);
}

}  // namespace
}  // namespace rung::cublas

using namespace rung::cublas;

#define RUNG_DEFINE_DOT(NAME, T, TYPE, INT)                                             \
  CUBLAS_API int NAME(Handle handle, INT n, const T* x, INT incx, const T* y, INT incy, \
                      T* result) {                                                      \
    return plain<T, INT>(#NAME, TYPE, handle, n, x, incx, y, incy, result);             \
  }

#define RUNG_DEFINE_DOT_EX(NAME, INT)                                                           \
  CUBLAS_API int NAME(Handle handle, INT n, const void* x, int x_type, INT incx, const void* y, \
                      int y_type, INT incy, void* result, int result_type, int execution) {     \
    return ex<INT>(#NAME, handle, n, x, x_type, incx, y, y_type, incy, result, result_type,     \
                   execution);                                                                  \
  }

#define RUNG_CUBLAS_DOT(NAME, T, TYPE) \
  RUNG_DEFINE_DOT(NAME, T, TYPE, int)  \
  RUNG_DEFINE_DOT(NAME##_64, T, TYPE, std::int64_t)
#define RUNG_CUBLAS_DOT_EX(NAME) \
  RUNG_DEFINE_DOT_EX(NAME, int)  \
  RUNG_DEFINE_DOT_EX(NAME##_64, std::int64_t)
#include "core/cublas/functions.def"
