#include "array.hpp"

#include <nanobind/stl/string.h>

#include <array>
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

/// The rung_dtype of a buffer protocol format; -1 if Rung does not support it.
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

/// The rung_dtype of a DLPack type; -1 if Rung does not support it.
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

/// The name of a type that Rung does not support, such as "complex64".
std::string name_of(dlpack::DataType type) {
  // By DLPack's DLDataTypeCode. The first six are followed by their bits.
  constexpr std::array names = {"int",
                                "uint",
                                "float",
                                "handle",
                                "bfloat",
                                "complex",
                                "bool",
                                "float8_e3m4",
                                "float8_e4m3",
                                "float8_e4m3b11fnuz",
                                "float8_e4m3fn",
                                "float8_e4m3fnuz",
                                "float8_e5m2",
                                "float8_e5m2fnuz",
                                "float8_e8m0fnu",
                                "float6_e2m3fn",
                                "float6_e3m2fn",
                                "float4_e2m1fn"};
  constexpr int boolean = 6;
  if (type.code >= names.size()) {
    return "an unknown type of " + std::to_string(type.bits) + " bits";
  }
  std::string name = names[type.code];
  if (type.code < boolean) name += std::to_string(type.bits);
  return type.lanes == 1 ? name : name + " x " + std::to_string(type.lanes);
}

/// The name of a device that Rung does not support.
std::string name_of(dlpack::Device device) {
  switch (device.type) {
    case 4: return "OpenCL";
    case 7: return "Vulkan";
    case 8: return "Metal";
    case 9: return "VPI";
    case 10:
    case 11: return "ROCm";
    case 14: return "oneAPI";
    case 15: return "WebGPU";
    case 16: return "Hexagon";
    case 17: return "MAIA";
    case 18: return "Trainium";
    default: return "a device of another kind";
  }
}

/// The rung_dtype of types without a buffer protocol format: those of ml_dtypes.
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

/// True if writes to this memory reach the array that exported it.
bool writes_through(const dlpack::VersionedTensor& tensor) {
  return (tensor.flags & (dlpack::flag_read_only | dlpack::flag_is_copied)) == 0;
}

/// True for every device but the CPU.
bool is_on_gpu(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return false;
  const nb::object device = object.attr("__dlpack_device__")();
  int type = 0;
  if (!nb::try_cast(nb::object(device[0]), type)) {
    fail_type("__dlpack_device__ of " + python_type(object) + " is " +
              nb::cast<std::string>(nb::repr(device)) + "; it must be two integers");
  }
  return type != RUNG_DEVICE_CPU;
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
  } catch (nb::python_error& error) {  // producers older than DLPack 1.0
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return method(**arguments);
}

/// An attribute of a module if the program has imported that module; otherwise null.
nb::object imported(const char* module, const char* name) {
  const nb::object modules = nb::module_::import_("sys").attr("modules");
  const nb::object found = modules.attr("get")(module);
  return found.is_none() ? nb::object() : nb::getattr(found, name, nb::object());
}

bool is_kind_of(PyTypeObject* type, const char* module, const char* name) {
  const nb::object base = imported(module, name);
  return base.is_valid() && PyType_Check(base.ptr()) != 0 &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base.ptr())) != 0;
}

PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }

/// True if a forward-mode derivative is active and the tensor has a tangent.
bool has_tangent(nb::handle tensor) {
  static PyObject* const forward_ad = kept("torch.autograd", "forward_ad");
  static PyObject* const level = interned("_current_level");
  const nb::handle module(forward_ad);
  if (nb::cast<int>(nb::getattr(module, nb::handle(level), nb::int_(0))) < 0) return false;
  return !module.attr("unpack_dual")(tensor).attr("tangent").is_none();
}

/// Rejects PyTorch tensors whose value is not only their memory. __dlpack__ rejects only some of
/// them.
void check_tensor(const char* name, nb::handle tensor, Grad grad) {
  static PyObject* const is_neg = interned("is_neg");
  static PyObject* const requires_grad = interned("requires_grad");
  if (nb::cast<bool>(tensor.attr(nb::handle(is_neg))())) {
    fail_type(std::string(name) + " is a lazy negation; pass resolve_neg()");
  }
  if (grad == Grad::ignored) return;
  if (nb::cast<bool>(tensor.attr(nb::handle(requires_grad)))) {
    fail_type(std::string(name) + " requires grad; use rung.torch.matmul, or pass detach()");
  }
  if (has_tangent(tensor)) {
    fail_type(std::string(name) + " has a tangent; use rung.torch.matmul, or pass detach()");
  }
}

Access inspect(nb::handle object) {
  PyTypeObject* const type = Py_TYPE(object.ptr());
  const bool is_tensor = is_kind_of(type, "torch", "Tensor");
  const nb::object capsule =
      nb::getattr(nb::handle(reinterpret_cast<PyObject*>(type)), "__dlpack_c_exchange_api__", {});
  if (capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) {
    const auto* api = static_cast<const dlpack::ExchangeApi*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (api != nullptr && api->version.major != dlpack::version.major) api = api->previous;
    if (api != nullptr) return {type, Access::By::exchange_api, api, is_tensor};
  }
  // The buffer of a masked array includes the masked elements.
  const bool is_masked = is_kind_of(type, "numpy.ma", "MaskedArray");
  Access::By by = Access::By::nothing;
  if (PyObject_CheckBuffer(object.ptr()) != 0 && !is_masked) {
    by = Access::By::buffer;
  } else if (nb::hasattr(object, "__dlpack__") && !is_masked) {
    by = Access::By::dlpack;
  }
  return {type, by, nullptr, is_tensor};
}

}  // namespace

Access access_of(nb::handle object) {
  // A program uses only a few types repeatedly: two are enough for arrays and their views.
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

// A delegating constructor, so that the destructor runs if this one throws.
Imported::Imported(const char* name, nb::handle object, const Access& access, void* stream,
                   Grad grad)
    : Imported() {
  if (access.is_tensor) check_tensor(name, object, grad);
  switch (access.by) {
    case Access::By::exchange_api: read_exchanged(name, object, *access.api); break;
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

void Imported::read_exchanged(const char* name, nb::handle object, const dlpack::ExchangeApi& api) {
  dlpack::Tensor tensor;
  if (api.tensor_of != nullptr) {
    if (api.tensor_of(object.ptr(), &tensor) != 0) throw nb::python_error();
  } else {
    if (api.managed_tensor_of(object.ptr(), &versioned_) != 0) throw nb::python_error();
    tensor = versioned_->tensor;
    array.is_read_only = !writes_through(*versioned_);
  }
  read(name, tensor);
}

void Imported::read_buffer(const char* name, nb::handle object, void* stream) {
  int dtype = -1;
  has_buffer_ = PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) == 0;
  if (has_buffer_) {
    dtype = dtype_of_format(buffer_.format, buffer_.itemsize);
  } else {
    PyErr_Clear();
    dtype = dtype_of_name(object);
    // Arrays on a GPU also implement the buffer protocol, but reject requests.
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
  Py_ssize_t packed = buffer_.itemsize;
  for (int i = buffer_.ndim - 1; i >= 0; --i) {
    // ctypes leaves strides null even if requested; its arrays have no gaps.
    const Py_ssize_t stride = buffer_.strides == nullptr ? packed : buffer_.strides[i];
    if (stride % buffer_.itemsize != 0) {
      fail_value(std::string(name) + " has a stride of " + std::to_string(stride) +
                 " bytes; it must be a multiple of the element's " +
                 std::to_string(buffer_.itemsize));
    }
    array.shape[i] = buffer_.shape[i];
    array.strides[i] = stride / buffer_.itemsize;
    packed *= buffer_.shape[i];
  }
}

void Imported::read_dlpack(const char* name, nb::handle object, void* stream) {
  const nb::object capsule = capsule_of(object, is_on_gpu(object), stream);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* const tensor = static_cast<dlpack::VersionedTensor*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    versioned_ = tensor;
    if (tensor->version.major != dlpack::version.major) {
      fail_type(std::string(name) + " is exported by DLPack " +
                std::to_string(tensor->version.major) + "; versions 0 and 1 are supported");
    }
    array.is_read_only = !writes_through(*tensor);
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
    refuse(name, "of dtype " + name_of(tensor.dtype));
  }
  // Pinned memory (3) is host memory; managed memory (13) is accessible to both.
  array.device_type = tensor.device.type == 3    ? RUNG_DEVICE_CPU
                      : tensor.device.type == 13 ? RUNG_DEVICE_CUDA
                                                 : tensor.device.type;
  array.device_id = array.device_type == RUNG_DEVICE_CPU ? 0 : tensor.device.id;
  if (array.device_type != RUNG_DEVICE_CPU && array.device_type != RUNG_DEVICE_CUDA) {
    fail_value(std::string(name) + " is on a device of " + name_of(tensor.device) +
               "; the CPU and CUDA are supported");
  }
  check_dims(name, tensor.ndim);
  array.ndim = tensor.ndim;
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  std::int64_t elements = 1;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    array.shape[i] = tensor.shape[i];
    array.strides[i] = tensor.strides == nullptr ? elements : tensor.strides[i];
    elements *= tensor.shape[i];
  }
  if (tensor.data == nullptr && elements != 0) {  // for example fake and wrapped tensors of PyTorch
    fail_type(std::string(name) + " is " + shape_text(array) + " without memory of its own");
  }
}

void mark_written(nb::handle object, const Access& access) {
  if (!access.is_tensor) return;
  static PyObject* const increment_version = kept("torch.autograd.graph", "increment_version");
  nb::borrow(increment_version)(object);
}

}  // namespace rung::python
