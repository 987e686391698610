#pragma once

#include <nanobind/nanobind.h>

namespace rung::python {

/// Replaces the module's public functions of nanobind by built-in functions of Python that call them: inspect.signature
/// and pickle know these, and nothing can be added to nanobind's type. Costs about 10 ns a call.
void make_builtin_functions(nanobind::module_& module);

}  // namespace rung::python
