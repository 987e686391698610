#pragma once
// Arrays of Python as the library sees them: NumPy's, PyTorch's, and all others that have the buffer
// protocol or DLPack.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "dlpack.hpp"
#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

constexpr int max_dims = 8;

/// The memory of an array, which belongs to its Python object.
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

/// How the objects of a Python type give their memory.
struct Access {
  enum class By { exchange_api, buffer, dlpack, nothing };
  PyTypeObject* type;
  By by;
  const dlpack::ExchangeApi* api;  // for By::exchange_api
};
Access access_of(nb::handle object);

/// What becomes of a tensor that requires grad: the library records nothing for autograd.
enum class Grad { refused, ignored };

/// An array for as long as this lives.
class Imported {
 public:
  /// `name`: for messages, such as "a". `stream`: what a GPU array is used in; its producer makes that
  /// stream wait for pending work, if it knows of any. Throws TypeError for what is no array, or of
  /// an element type that the library has not; ValueError for more than 8 dimensions.
  Imported(const char* name, nb::handle object, const Access& access, void* stream,
           Grad grad = Grad::refused);
  ~Imported();
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;

  Array array;

 private:
  Imported() = default;
  void read_exchanged(const char* name, nb::handle object, const dlpack::ExchangeApi& api,
                      Grad grad);
  void read_buffer(const char* name, nb::handle object, void* stream);
  void read_dlpack(const char* name, nb::handle object, void* stream);
  void read(const char* name, const dlpack::Tensor& tensor);

  Py_buffer buffer_ = {};
  bool has_buffer_ = false;
  dlpack::VersionedTensor* versioned_ = nullptr;
  dlpack::ManagedTensor* managed_ = nullptr;
};

/// A new array without values, of the library and on the device of `like`.
nb::object new_array(nb::handle like, const Access& access, const Array& on, std::int32_t dtype,
                     int ndim, const std::int64_t* shape);

/// The stream to launch into: `stream` if it is not None, otherwise the current one of the object's
/// library. An array on the CPU has none.
void* stream_for(nb::handle object, const Access& access, nb::handle stream);

std::size_t element_size(std::int32_t dtype);
/// As in NumPy: "float32".
const char* dtype_name(std::int32_t dtype);
/// As in Python: "(2, 3)".
std::string shape_text(const Array& array);
/// "the CPU" or "GPU 1".
std::string device_text(const Array& array);

}  // namespace rung::python
