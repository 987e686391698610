#pragma once
// Python arrays as the library sees them: NumPy's, PyTorch's, and any others that support the
// buffer protocol or DLPack.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "dlpack.hpp"
#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

constexpr int max_dims = 8;

/// The memory of an array, which its Python object owns.
struct Array {
  void* data = nullptr;
  std::int32_t device_type = RUNG_DEVICE_CPU;
  std::int32_t device_id = 0;
  std::int32_t dtype = RUNG_DTYPE_F32;
  int ndim = 0;
  bool is_read_only = false;
  std::int64_t shape[max_dims] = {};
  std::int64_t strides[max_dims] = {};  // in elements

  bool on_gpu() const { return device_type != RUNG_DEVICE_CPU; }
};

/// How objects of a Python type provide their memory.
struct Access {
  enum class By { exchange_api, buffer, dlpack, nothing };
  PyTypeObject* type;
  By by;
  const dlpack::ExchangeApi* api;  // for By::exchange_api
  bool is_tensor;  // PyTorch: may be a lazy negation, has autograd and a version counter
};
Access access_of(nb::handle object);

/// The treatment of tensors that require grad, since the library does not record operations for
/// autograd.
enum class Grad { refused, ignored };

/// Imports an array for the lifetime of this object.
class Imported {
 public:
  /// `name`: for messages, such as "a". `stream`: the stream in which a GPU array is used; if its
  /// producer tracks pending work, it makes that stream wait. Throws TypeError for objects that are
  /// not arrays, unsupported element types, and PyTorch tensors whose value is not only their
  /// memory; ValueError for more than 8 dimensions.
  Imported(const char* name, nb::handle object, const Access& access, void* stream,
           Grad grad = Grad::refused);
  ~Imported();
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;

  Array array;

 private:
  Imported() = default;
  void read_exchanged(const char* name, nb::handle object, const dlpack::ExchangeApi& api);
  void read_buffer(const char* name, nb::handle object, void* stream);
  void read_dlpack(const char* name, nb::handle object, void* stream);
  void read(const char* name, const dlpack::Tensor& tensor);

  Py_buffer buffer_ = {};
  bool has_buffer_ = false;
  dlpack::VersionedTensor* versioned_ = nullptr;
  dlpack::ManagedTensor* managed_ = nullptr;
};

/// Tells PyTorch that a tensor has been modified, so that a backward pass that needs its old values
/// fails. Other arrays have no version counter.
void mark_written(nb::handle object, const Access& access);

/// A new uninitialized array of the same library and on the same device as `like`.
nb::object new_array(nb::handle like, const Access& access, const Array& on, std::int32_t dtype,
                     int ndim, const std::int64_t* shape);

/// The stream for launches: `stream` unless it is None, otherwise the current stream of the
/// object's library. Null for an array on the CPU.
void* stream_for(nb::handle object, const Access& access, nb::handle stream);

/// An attribute of a module, which is looked up once and lives as long as the process.
PyObject* kept(const char* module, const char* name);

std::size_t element_size(std::int32_t dtype);
/// The NumPy name, such as "float32".
const char* dtype_name(std::int32_t dtype);
/// The shape in Python syntax, such as "(2, 3)".
std::string shape_text(const Array& array);
/// "the CPU" or "GPU 1".
std::string device_text(const Array& array);

}  // namespace rung::python
