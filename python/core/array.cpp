#include "array.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "errors.hpp"

namespace rung::python {
namespace {

constexpr const char* supported =
    "float32, float64, int32, bfloat16, float16, int8, float8_e4m3fn or float8_e5m2";

[[noreturn]] void refuse(const char* name, const std::string& type) {
  fail_type(std::string(name) + " is " + type + "; it must be an array of " + supported);
}

std::string python_type(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

std::string dtype_text(nb::handle object) {
  if (!nb::hasattr(object, "dtype")) return python_type(object);
  return "of " + nb::cast<std::string>(nb::str(nb::object(object.attr("dtype"))));
}

void check_dims(const char* name, int ndim) {
  if (ndim <= max_dims) return;
  fail_value(std::string(name) + " has " + std::to_string(ndim) + " dimensions; at most " +
             std::to_string(max_dims) + " are allowed");
}

/// The rung_dtype of a format of the buffer protocol; -1 if there is none.
int dtype_of_format(const char* format, Py_ssize_t size) {
  if (format == nullptr) return -1;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (*format == '\0' || format[1] != '\0') return -1;
  switch (*format) {
    case 'f': return RUNG_DTYPE_F32;
    case 'd': return RUNG_DTYPE_F64;
    case 'e': return RUNG_DTYPE_F16;
    case 'b': return RUNG_DTYPE_I8;
    case 'i':
    case 'l': return size == 4 ? RUNG_DTYPE_I32 : -1;
    default: return -1;
  }
}

/// The rung_dtype of a type of DLPack; -1 if there is none.
int dtype_of(dlpack::DataType type) {
  using enum dlpack::TypeCode;
  if (type.lanes != 1) return -1;
  switch (static_cast<dlpack::TypeCode>(type.code)) {
    case floating:
      return type.bits == 32   ? RUNG_DTYPE_F32
             : type.bits == 64 ? RUNG_DTYPE_F64
             : type.bits == 16 ? RUNG_DTYPE_F16
                               : -1;
    case signed_integer:
      return type.bits == 32 ? RUNG_DTYPE_I32 : type.bits == 8 ? RUNG_DTYPE_I8 : -1;
    case bfloat: return type.bits == 16 ? RUNG_DTYPE_BF16 : -1;
    case float8_e4m3fn: return type.bits == 8 ? RUNG_DTYPE_E4M3 : -1;
    case float8_e5m2: return type.bits == 8 ? RUNG_DTYPE_E5M2 : -1;
    default: return -1;
  }
}

/// Types that the buffer protocol has no format for: ml_dtypes'.
int dtype_of_name(nb::handle array) {
  if (!nb::hasattr(array, "dtype") || !nb::hasattr(array, "view")) return -1;
  const nb::object name = nb::getattr(array.attr("dtype"), "name", nb::none());
  std::string text;
  if (!nb::try_cast(name, text)) return -1;
  for (const int dtype : {RUNG_DTYPE_BF16, RUNG_DTYPE_E4M3, RUNG_DTYPE_E5M2}) {
    if (text == dtype_name(dtype)) return dtype;
  }
  return -1;
}

bool is_on_gpu(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return false;
  const nb::object device = object.attr("__dlpack_device__")();
  return nb::cast<int>(device[0]) != RUNG_DEVICE_CPU;
}

nb::object capsule_of(nb::handle object, bool on_gpu, void* stream) {
  nb::dict arguments;
  if (on_gpu) {  // 1 is the legacy default stream, whose handle is null
    arguments["stream"] = stream == nullptr ? 1 : reinterpret_cast<std::intptr_t>(stream);
  }
  const nb::object method = object.attr("__dlpack__");
  try {
    return method(**arguments, nb::arg("max_version") =
                                   nb::make_tuple(dlpack::version.major, dlpack::version.minor));
  } catch (nb::python_error& error) {  // from before DLPack 1.0
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return method(**arguments);
}

Access inspect(nb::handle object) {
  PyTypeObject* const type = Py_TYPE(object.ptr());
  const nb::object capsule =
      nb::getattr(nb::handle(reinterpret_cast<PyObject*>(type)), "__dlpack_c_exchange_api__", {});
  if (capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) {
    const auto* api = static_cast<const dlpack::ExchangeApi*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (api != nullptr && api->version.major != dlpack::version.major) api = api->previous;
    if (api != nullptr) return {type, Access::By::exchange_api, api};
  }
  if (PyObject_CheckBuffer(object.ptr()) != 0) return {type, Access::By::buffer, nullptr};
  if (nb::hasattr(object, "__dlpack__")) return {type, Access::By::dlpack, nullptr};
  return {type, Access::By::nothing, nullptr};
}

}  // namespace

Access access_of(nb::handle object) {
  // A few types are used again and again: two suffice for arrays and their views.
  static nb::ft_mutex mutex;
  static Access known[4] = {};
  static unsigned next = 0;
  const nb::ft_lock_guard lock(mutex);
  for (const Access& access : known) {
    if (access.type == Py_TYPE(object.ptr())) return access;
  }
  const Access found = inspect(object);
  Access& entry = known[next++ % 4];
  Py_INCREF(reinterpret_cast<PyObject*>(found.type));
  PyTypeObject* const before = entry.type;
  entry = found;
  Py_XDECREF(reinterpret_cast<PyObject*>(before));
  return found;
}

// Delegates, so that the destructor runs if this throws.
Imported::Imported(const char* name, nb::handle object, const Access& access, void* stream,
                   Grad grad)
    : Imported() {
  switch (access.by) {
    case Access::By::exchange_api: read_exchanged(name, object, *access.api, grad); break;
    case Access::By::buffer: read_buffer(name, object, stream); break;
    case Access::By::dlpack: read_dlpack(name, object, stream); break;
    case Access::By::nothing: refuse(name, python_type(object));
  }
}

Imported::~Imported() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
  if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
}

void Imported::read_exchanged(const char* name, nb::handle object, const dlpack::ExchangeApi& api,
                              Grad grad) {
  // __dlpack__ refuses these itself.
  if (grad == Grad::refused &&
      nb::cast<bool>(nb::getattr(object, "requires_grad", nb::bool_(false)))) {
    fail_type(std::string(name) + " requires grad; use rung.torch.matmul, or pass detach()");
  }
  dlpack::Tensor tensor;
  if (api.tensor_of != nullptr) {
    if (api.tensor_of(object.ptr(), &tensor) != 0) throw nb::python_error();
  } else {
    if (api.managed_tensor_of(object.ptr(), &versioned_) != 0) throw nb::python_error();
    tensor = versioned_->tensor;
  }
  read(name, tensor);
  // The table gives the memory of PyTorch's, without its sign. No public function makes one whose
  // elements follow each other, so that others need not be asked.
  const auto& strides = array.strides;
  if (std::find(strides, strides + array.ndim, 1) != strides + array.ndim) return;
  if (nb::hasattr(object, "is_neg") && nb::cast<bool>(object.attr("is_neg")())) {
    fail_type(std::string(name) + " is a lazy negation; pass resolve_neg()");
  }
}

void Imported::read_buffer(const char* name, nb::handle object, void* stream) {
  int dtype = -1;
  has_buffer_ = PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) == 0;
  if (has_buffer_) {
    dtype = dtype_of_format(buffer_.format, buffer_.itemsize);
  } else {
    PyErr_Clear();
    dtype = dtype_of_name(object);
    // Arrays on a GPU have the buffer protocol's slot, too, and refuse it.
    if (dtype < 0 && is_on_gpu(object)) return read_dlpack(name, object, stream);
    if (dtype < 0) refuse(name, dtype_text(object));
    const nb::object bits = object.attr("view")(element_size(dtype) == 2 ? "uint16" : "uint8");
    if (PyObject_GetBuffer(bits.ptr(), &buffer_, PyBUF_STRIDES) != 0) throw nb::python_error();
    has_buffer_ = true;
  }
  if (dtype < 0) refuse(name, dtype_text(object));
  check_dims(name, buffer_.ndim);
  array.data = buffer_.buf;
  array.dtype = dtype;
  array.ndim = buffer_.ndim;
  array.is_read_only = buffer_.readonly != 0;
  for (int i = 0; i < buffer_.ndim; ++i) {
    if (buffer_.strides[i] % buffer_.itemsize != 0) {
      fail_value(std::string(name) + " has a stride of " + std::to_string(buffer_.strides[i]) +
                 " bytes; it must be a multiple of the element's " +
                 std::to_string(buffer_.itemsize));
    }
    array.shape[i] = buffer_.shape[i];
    array.strides[i] = buffer_.strides[i] / buffer_.itemsize;
  }
}

void Imported::read_dlpack(const char* name, nb::handle object, void* stream) {
  const nb::object device = object.attr("__dlpack_device__")();
  const bool on_gpu = nb::cast<int>(device[0]) != RUNG_DEVICE_CPU;
  const nb::object capsule = capsule_of(object, on_gpu, stream);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* const tensor = static_cast<dlpack::VersionedTensor*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    versioned_ = tensor;
    if (tensor->version.major != dlpack::version.major) {
      fail_type(std::string(name) + " is exported by DLPack " +
                std::to_string(tensor->version.major) + "; versions 0 and 1 are supported");
    }
    array.is_read_only = (tensor->flags & dlpack::flag_read_only) != 0;
    return read(name, tensor->tensor);
  }
  if (!PyCapsule_IsValid(capsule.ptr(), "dltensor")) refuse(name, python_type(object));
  managed_ = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  read(name, managed_->tensor);
}

void Imported::read(const char* name, const dlpack::Tensor& tensor) {
  array.dtype = dtype_of(tensor.dtype);
  if (array.dtype < 0) {
    refuse(name, "of DLPack type " + std::to_string(tensor.dtype.code) + " with " +
                     std::to_string(tensor.dtype.bits) + " bits");
  }
  // Pinned memory (3) is host memory, managed memory (13) is reached by both.
  array.device_type = tensor.device.type == 3    ? RUNG_DEVICE_CPU
                      : tensor.device.type == 13 ? RUNG_DEVICE_CUDA
                                                 : tensor.device.type;
  array.device_id = array.device_type == RUNG_DEVICE_CPU ? 0 : tensor.device.id;
  if (array.device_type != RUNG_DEVICE_CPU && array.device_type != RUNG_DEVICE_CUDA) {
    fail_value(std::string(name) + " is on a device of DLPack type " +
               std::to_string(tensor.device.type) + "; the CPU (1) and CUDA (2) are supported");
  }
  check_dims(name, tensor.ndim);
  array.ndim = tensor.ndim;
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  std::int64_t stride = 1;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    array.shape[i] = tensor.shape[i];
    array.strides[i] = tensor.strides == nullptr ? stride : tensor.strides[i];
    stride *= tensor.shape[i];
  }
}

}  // namespace rung::python
