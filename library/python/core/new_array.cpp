// Creates arrays and finds current streams with the library that an operand belongs to.

#include <nanobind/stl/string.h>

#include <string>

#include "array.hpp"
#include "errors.hpp"

namespace rung::python {
namespace {

dlpack::DataType type_of(std::int32_t dtype) {
  using enum dlpack::TypeCode;
  dlpack::TypeCode code = floating;
  if (dtype == RUNG_DTYPE_I32 || dtype == RUNG_DTYPE_I8) code = signed_integer;
  if (dtype == RUNG_DTYPE_BF16) code = bfloat;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * element_size(dtype)), 1};
}

void keep_message(void* message, const char* kind, const char* text) {
  *static_cast<std::string*>(message) = std::string(kind) + ": " + text;
}

nb::object new_tensor(const dlpack::ExchangeApi& api, const Array& on, std::int32_t dtype, int ndim,
                      const std::int64_t* shape) {
  dlpack::Tensor prototype = {.data = nullptr,
                              .device = {on.device_type, on.device_id},
                              .ndim = ndim,
                              .dtype = type_of(dtype),
                              .shape = const_cast<std::int64_t*>(shape),
                              .strides = nullptr,
                              .byte_offset = 0};
  dlpack::VersionedTensor* tensor = nullptr;
  std::string message;
  if (api.allocate(&prototype, &tensor, &message, keep_message) != 0) {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    PyErr_SetString(PyExc_MemoryError, ("rung: no memory for the result: " + message).c_str());
    throw nb::python_error();
  }
  void* object = nullptr;
  if (api.object_of(tensor, &object) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

nb::object shape_tuple(int ndim, const std::int64_t* shape) {
  nb::object tuple = nb::steal(PyTuple_New(ndim));
  for (int i = 0; i < ndim; ++i) {
    PyTuple_SetItem(tuple.ptr(), i, PyLong_FromLongLong(shape[i]));
  }
  return tuple;
}

/// A type of NumPy, or bfloat16, which exists only if the program has imported ml_dtypes.
PyObject* numpy_type(std::int32_t dtype) {
  static PyObject* const float16 = kept("numpy", "float16");
  static PyObject* const float32 = kept("numpy", "float32");
  static PyObject* const float64 = kept("numpy", "float64");
  static PyObject* const int8 = kept("numpy", "int8");
  static PyObject* const int32 = kept("numpy", "int32");
  switch (dtype) {
    case RUNG_DTYPE_BF16: {
      static PyObject* const bfloat16 = kept("ml_dtypes", "bfloat16");
      return bfloat16;
    }
    case RUNG_DTYPE_F16: return float16;
    case RUNG_DTYPE_F64: return float64;
    case RUNG_DTYPE_I8: return int8;
    case RUNG_DTYPE_I32: return int32;
    default: return float32;
  }
}

nb::object new_numpy_array(std::int32_t dtype, int ndim, const std::int64_t* shape) {
  static PyObject* const empty = kept("numpy", "empty");
  PyObject* const made = PyObject_CallFunctionObjArgs(empty, shape_tuple(ndim, shape).ptr(),
                                                      numpy_type(dtype), nullptr);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

}  // namespace

PyObject* kept(const char* module, const char* name) {
  return nb::object(nb::module_::import_(module).attr(name)).release().ptr();
}

nb::object new_array(nb::handle like, const Access& access, const Array& on, std::int32_t dtype,
                     int ndim, const std::int64_t* shape) {
  if (access.by == Access::By::exchange_api) {
    return new_tensor(*access.api, on, dtype, ndim, shape);
  }
  if (access.by == Access::By::buffer) return new_numpy_array(dtype, ndim, shape);
  static PyObject* const other = kept("rung._interop", "empty");
  return nb::handle(other)(like, shape_tuple(ndim, shape), dtype_name(dtype));
}

void* stream_for(nb::handle object, const Access& access, nb::handle stream) {
  if (stream.is_none() && access.by == Access::By::buffer) return nullptr;
  if (stream.is_none() && access.by == Access::By::exchange_api) {
    dlpack::Tensor tensor;
    if (access.api->tensor_of != nullptr && access.api->tensor_of(object.ptr(), &tensor) == 0) {
      void* current = nullptr;
      if (tensor.device.type == RUNG_DEVICE_CPU || tensor.device.type == 3) return nullptr;
      if (access.api->current_stream != nullptr &&
          access.api->current_stream(tensor.device.type, tensor.device.id, &current) == 0) {
        return current;
      }
    }
    PyErr_Clear();
  }
  static PyObject* const other = kept("rung._interop", "stream_handle");
  const nb::object handle = nb::handle(other)(object, stream);
  std::uintptr_t address = 0;
  if (!nb::try_cast(handle, address)) {
    fail_value("stream is " + nb::cast<std::string>(nb::repr(handle)) +
               "; a handle must be an address of 64 bits");
  }
  return reinterpret_cast<void*>(address);
}

}  // namespace rung::python
