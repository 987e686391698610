// NumPy names of element types, and descriptions of arrays for messages.

#include <array>

#include "array.hpp"

namespace rung::python {
namespace {

struct Dtype {
  const char* name;
  std::size_t size;
};

/// Indexed by rung_dtype. Here, tf32 is a mode of float32 and not an array type.
constexpr std::array<Dtype, 9> dtypes = {{{"float32", 4},
                                          {"float64", 8},
                                          {"int32", 4},
                                          {"bfloat16", 2},
                                          {"float16", 2},
                                          {"float32", 4},
                                          {"int8", 1},
                                          {"float8_e4m3fn", 1},
                                          {"float8_e5m2", 1}}};

}  // namespace

std::size_t element_size(std::int32_t dtype) {
  return dtypes[static_cast<std::size_t>(dtype)].size;
}

const char* dtype_name(std::int32_t dtype) { return dtypes[static_cast<std::size_t>(dtype)].name; }

std::string shape_text(const Array& array) {
  std::string text = "(";
  for (int i = 0; i < array.ndim; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(array.shape[i]);
  }
  return text + (array.ndim == 1 ? ",)" : ")");
}

std::string device_text(const Array& array) {
  return array.on_gpu() ? "GPU " + std::to_string(array.device_id) : "the CPU";
}

}  // namespace rung::python
