#include "wrong_arguments.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>

#include "errors.hpp"

namespace nb = nanobind;

namespace rung::python {
namespace {

/// Empty if the value fits the type of a signature; otherwise the rule that it breaks.
const char* broken_rule(const std::string& type, nb::handle value) {
  if (type == "float") {
    const bool fits = PyFloat_AsDouble(value.ptr()) != -1.0 || PyErr_Occurred() == nullptr;
    PyErr_Clear();
    return fits ? "" : "it must be a float";
  }
  if (type == "int") {
    if (PyIndex_Check(value.ptr()) == 0) return "it must be an int";
    int overflow = 0;
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    const long long all = number ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow) : 0;
    PyErr_Clear();
    using Limits = std::numeric_limits<int>;
    const bool fits = overflow == 0 && all >= Limits::min() && all <= Limits::max();
    return fits ? "" : "it must be an int of 32 bits";
  }
  if (type == "str") return PyUnicode_Check(value.ptr()) != 0 ? "" : "it must be a str";
  if (type == "PackedWeights") {
    const bool fits = nb::cast<std::string>(nb::inst_name(value)).ends_with(type);
    return fits ? "" : "it must be a rung.PackedWeights";
  }
  return "";
}

/// The value as Python writes it, or its type if that is long.
std::string text_of(nb::handle value) {
  constexpr std::size_t longest = 40;
  auto text = nb::cast<std::string>(nb::repr(value));
  const bool is_short = text.size() <= longest && text.find('\n') == text.npos;
  return is_short ? text : nb::cast<std::string>(nb::inst_name(value));
}

[[noreturn]] void fail(const Signature& signature, const std::string& message) {
  fail_type(signature.function + ": " + message);
}

void check(const Signature& signature, const Parameter& parameter, nb::handle value) {
  const std::string rule = broken_rule(parameter.type, value);
  if (!rule.empty()) fail(signature, parameter.name + " is " + text_of(value) + "; " + rule);
}

void check_all(const Signature& signature, PyObject* const* arguments, std::size_t positional,
               PyObject* names) {
  if (positional > signature.positional) {
    fail(signature, std::to_string(positional) + " arguments without a name; it takes at most " +
                        std::to_string(signature.positional));
  }
  std::vector<bool> given(signature.parameters.size());
  for (std::size_t i = 0; i < positional; ++i) {
    check(signature, signature.parameters[i], arguments[i]);
    given[i] = true;
  }
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    const auto name = nb::cast<std::string>(nb::handle(PyTuple_GetItem(names, i)));
    const auto found = std::ranges::find(signature.parameters, name, &Parameter::name);
    if (found == signature.parameters.end()) fail(signature, "there is no argument " + name);
    check(signature, *found, arguments[positional + static_cast<std::size_t>(i)]);
    given[static_cast<std::size_t>(found - signature.parameters.begin())] = true;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    if (parameter.is_required && !given[i]) fail(signature, parameter.name + " is missing");
  }
}

}  // namespace

Signature signature_of(std::string_view docstring) {
  std::string_view line = docstring.substr(0, docstring.find('\n'));
  Signature signature;
  const std::size_t open = line.find('(');
  signature.function = line.substr(0, open);
  line = line.substr(open + 1, line.rfind(") ->") - open - 1);
  bool is_keyword_only = false;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(", "), line.size());
    const std::string_view one = line.substr(0, end);
    line.remove_prefix(std::min(end + 2, line.size()));
    const std::size_t colon = one.find(": "), equals = one.find(" = ");
    if (one == "*") is_keyword_only = true;
    if (colon == one.npos) continue;
    signature.parameters.push_back({std::string(one.substr(0, colon)),
                                    std::string(one.substr(colon + 2, equals - colon - 2)),
                                    equals == one.npos});
    if (!is_keyword_only) ++signature.positional;
  }
  return signature;
}

void name_wrong_argument(const Signature& signature, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* names) {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return;
  nb::python_error error;
  const std::string_view text = error.what();
  if (text.find("incompatible function arguments") == text.npos) return error.restore();
  try {
    check_all(signature, arguments, static_cast<std::size_t>(count), names);
    error.restore();
  } catch (nb::python_error& other) {
    other.restore();
  } catch (const nb::builtin_exception& named) {
    PyErr_SetString(PyExc_TypeError, named.what());
  }
}

}  // namespace rung::python
