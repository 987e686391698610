#include "builtin_functions.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "wrong_arguments.hpp"

namespace nb = nanobind;

namespace rung::python {
namespace {

// pickle knows a built-in function by its name only if it belongs to a module, which then is what the function is called
// with. So each has a function of C of its own, which knows nanobind's.
constexpr std::size_t most = 16;
std::array<PyObject*, most> functions{};
std::array<const Signature*, most> signatures{};

template <std::size_t Index>
PyObject* call(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  PyObject* const result =
      PyObject_Vectorcall(functions[Index], arguments, static_cast<std::size_t>(count), names);
  if (result == nullptr) name_wrong_argument(*signatures[Index], arguments, count, names);
  return result;
}

template <std::size_t... Indices>
constexpr auto calls_of(std::index_sequence<Indices...>) {
  return std::array{&call<Indices>...};
}
constexpr auto calls = calls_of(std::make_index_sequence<most>());

/// The docstring as Python expects it of a built-in function: "f(a, *, b=1)\n--\n\nText", in which parameters have no
/// types, for nanobind's "f(a: object, *, b: int = 1) -> object\n\nText".
std::string with_text_signature(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::size_t close = text.substr(0, end).rfind(") ->");
  std::string signature;
  bool in_type = false;
  for (const char c : text.substr(0, close)) {
    if (c == ':') in_type = true;
    if (c == ',' || c == '=') in_type = false;
    if (!in_type) signature += c;
  }
  const std::size_t body = text.find_first_not_of('\n', end);
  return signature + ")\n--\n\n" + std::string(body == text.npos ? "" : text.substr(body));
}

struct Definition {
  std::string name, text;
  Signature signature;
  PyMethodDef method{};
};

}  // namespace

void make_builtin_functions(nb::module_& module) {
  const nb::object type = nb::borrow(module.attr("matmul").type());
  std::size_t count = 0;
  for (nb::handle each : module.attr("__dict__").attr("copy")().attr("items")()) {
    const nb::object function = each[1];
    const auto name = nb::cast<std::string>(nb::object(each[0]));
    if (name.starts_with('_') || !function.type().is(type)) continue;
    if (count == most) throw std::length_error("rung._core has too many functions");
    const auto text = nb::cast<std::string>(nb::object(function.attr("__doc__")));
    // Python keeps a pointer to it for ever
    auto& made = *new Definition{name, with_text_signature(text), signature_of(text)};
    signatures[count] = &made.signature;
    made.method = {made.name.c_str(),
                   reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(calls[count])),
                   METH_FASTCALL | METH_KEYWORDS, made.text.c_str()};
    functions[count++] = nb::object(function).release().ptr();
    module.attr(made.name.c_str()) = nb::steal(
        PyCFunction_NewEx(&made.method, module.ptr(), nb::object(module.attr("__name__")).ptr()));
  }
}

}  // namespace rung::python
