#pragma once

#include <nanobind/nanobind.h>

namespace rung::python {

nanobind::object matmul(nanobind::handle a, nanobind::handle b, nanobind::handle out, double alpha,
                        double beta, const char* math, int threads, nanobind::handle stream);

nanobind::object dot(nanobind::handle x, nanobind::handle y, const char* mode, nanobind::handle out,
                     int threads, nanobind::handle stream);

}  // namespace rung::python
