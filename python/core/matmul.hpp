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

/// alpha * (a @ b) + bias for matrices, rounded once, in out or a new array of the dtype of a; bias may be None.
/// Returns None, with nothing done, if they do not go together, or the library would need copies. Nothing is
/// recorded for autograd.
nanobind::object rounded_matmul(nanobind::handle a, nanobind::handle b, nanobind::handle bias,
                                double alpha, nanobind::handle out);

/// What PyTorch has for tensors on the CPU: alpha * (a @ b) + beta * addend in the dtype of a, for matrices (dims is
/// 2) or batches (3); addend may be None. None for all that is better left to the caller.
nanobind::object product_on_cpu(nanobind::handle a, nanobind::handle b, int dims,
                                nanobind::handle addend, double beta, double alpha);

/// Ragged groups; `offsets`: of Python's, or an array.
nanobind::object grouped_matmul(nanobind::handle a, nanobind::handle b, nanobind::handle offsets,
                                nanobind::handle out, nanobind::handle stream,
                                const MatmulOptions& options);

/// Elements of float8_e4m3fn with a scale for each block; `offsets`: of groups of rows, or None.
nanobind::object block_scaled_matmul(nanobind::handle a, nanobind::handle a_scales,
                                     nanobind::handle b, nanobind::handle b_scales,
                                     nanobind::handle offsets, nanobind::handle out,
                                     nanobind::handle stream, const MatmulOptions& options);

nanobind::object dot(nanobind::handle x, nanobind::handle y, const char* mode, nanobind::handle out,
                     int threads, nanobind::handle stream);

}  // namespace rung::python
