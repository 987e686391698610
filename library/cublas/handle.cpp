// Handles. If there is a real cuBLAS, they are its own, so that all of its functions accept them.

#include "library/cublas/handle.hpp"

#include <new>

#include "library/cublas/real.hpp"

namespace rung::cublas {
namespace {

using Get = int(Handle, int*);
using GetPointer = int(Handle, void**);

// Cached, because every gemm call needs it.
const bool& has_real() {
  static const bool found = real_function("cublasCreate_v2") != nullptr;
  return found;
}

State* own(Handle handle) { return static_cast<State*>(handle); }

/// Gets a field of a handle, from the real cuBLAS if there is one, otherwise from our State.
template <class Value>
int get(const char* name, Handle handle, Value State::* field, Value* value) {
  if (has_real()) return pass_on(name, handle, value);
  if (handle == nullptr) return not_initialized;
  if (value == nullptr) return invalid_value;
  *value = own(handle)->*field;
  return success;
}

template <class Value>
int set(const char* name, Handle handle, Value State::* field, Value value) {
  if (has_real()) return pass_on(name, handle, value);
  if (handle == nullptr) return not_initialized;
  own(handle)->*field = value;
  return success;
}

}  // namespace

std::optional<State> state_of(Handle handle) {
  if (handle == nullptr) return std::nullopt;
  if (!has_real()) return *own(handle);
  static auto* const stream = reinterpret_cast<GetPointer*>(real_function("cublasGetStream_v2"));
  static auto* const pointers = reinterpret_cast<Get*>(real_function("cublasGetPointerMode_v2"));
  static auto* const math = reinterpret_cast<Get*>(real_function("cublasGetMathMode"));
  State state;
  const bool known = stream != nullptr && pointers != nullptr && math != nullptr &&
                     stream(handle, &state.stream) == success &&
                     pointers(handle, &state.pointer_mode) == success &&
                     math(handle, &state.math_mode) == success;
  return known ? std::optional(state) : std::nullopt;
}

}  // namespace rung::cublas

using namespace rung::cublas;

CUBLAS_API int cublasCreate_v2(Handle* handle) {
  if (has_real()) return pass_on("cublasCreate_v2", handle);
  if (handle == nullptr) return invalid_value;
  *handle = new (std::nothrow) State;
  return *handle == nullptr ? alloc_failed : success;
}

CUBLAS_API int cublasDestroy_v2(Handle handle) {
  if (has_real()) return pass_on("cublasDestroy_v2", handle);
  if (handle == nullptr) return not_initialized;
  delete own(handle);
  return success;
}

CUBLAS_API int cublasSetStream_v2(Handle handle, void* stream) {
  return set("cublasSetStream_v2", handle, &State::stream, stream);
}

CUBLAS_API int cublasGetStream_v2(Handle handle, void** stream) {
  return get("cublasGetStream_v2", handle, &State::stream, stream);
}

CUBLAS_API int cublasSetPointerMode_v2(Handle handle, int mode) {
  if (!has_real() && mode != 0 && mode != 1) return invalid_value;
  return set("cublasSetPointerMode_v2", handle, &State::pointer_mode, mode);
}

CUBLAS_API int cublasGetPointerMode_v2(Handle handle, int* mode) {
  return get("cublasGetPointerMode_v2", handle, &State::pointer_mode, mode);
}

CUBLAS_API int cublasSetMathMode(Handle handle, int mode) {
  return set("cublasSetMathMode", handle, &State::math_mode, mode);
}

CUBLAS_API int cublasGetMathMode(Handle handle, int* mode) {
  return get("cublasGetMathMode", handle, &State::math_mode, mode);
}

// Ignored: the library has its own workspace for each stream.
CUBLAS_API int cublasSetWorkspace_v2(Handle handle, void* workspace, std::size_t bytes) {
  if (has_real()) {
    return pass_on("cublasSetWorkspace_v2", handle, workspace, bytes);
  }
  return handle == nullptr ? not_initialized : success;
}
