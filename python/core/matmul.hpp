#pragma once

#include <nanobind/nanobind.h>

namespace rung::python {

struct MatmulOptions {
  double alpha = 1, beta = 0;
  const char* math = "ieee";
  int threads = 0;
  bool ignores_grad = false;  // operands that require grad are read, without autograd
  bool rounds = false;        // a new result has the dtype of a
  // A tensor of PyTorch's on the CPU, of the result's dtype, that is scaled by beta if there is no out; it is
  // broadcast.
  nanobind::handle addend = {};
};

nanobind::object matmul(nanobind::handle a, nanobind::handle b, nanobind::handle out,
                        nanobind::handle stream, const MatmulOptions& options);

/// One product of two matrices, with a rung.Epilogue.
nanobind::object matmul_with_epilogue(nanobind::handle a, nanobind::handle b, nanobind::handle out,
                                      nanobind::handle stream, const MatmulOptions& options,
                                      nanobind::handle epilogue);

/// Ragged groups; `offsets`: of Python's, or an array.
nanobind::object grouped_matmul(nanobind::handle a, nanobind::handle b, nanobind::handle offsets,
                                nanobind::handle out, nanobind::handle stream,
                                const MatmulOptions& options);

nanobind::object dot(nanobind::handle x, nanobind::handle y, const char* mode, nanobind::handle out,
                     int threads, nanobind::handle stream);

}  // namespace rung::python
