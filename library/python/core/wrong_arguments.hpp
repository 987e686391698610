#pragma once
// Errors that name the argument which does not fit the signature of a function.

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace rung::python {

struct Parameter {
  std::string name, type;  // as written in the signature, such as "float"
  bool is_required;
};

struct Signature {
  std::string function;
  std::vector<Parameter> parameters;
  std::size_t positional = 0;  // the first parameters, which need no name
};

/// Reads the first line of nanobind's docstring: "f(a: object, *, b: int = 1) -> object".
Signature signature_of(std::string_view docstring);

/// Replaces nanobind's error for arguments of other types, which lists the types of all of them, by
/// a TypeError for the first wrong one: its name, its value and what it must be. Leaves other
/// errors alone. The arguments are those of a vectorcall that has failed.
void name_wrong_argument(const Signature& signature, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* names);

}  // namespace rung::python
