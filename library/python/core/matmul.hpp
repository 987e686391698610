#pragma once

#include <nanobind/nanobind.h>

namespace rung::python {

struct MatmulOptions {
  double alpha = 1, beta = 0;
  const char* math = "ieee";
  int threads = 0;
  bool ignores_grad = false;  // for callers that handle autograd themselves
  bool rounds = false;        // a new result has a's dtype
  // A CPU tensor of PyTorch with the result's dtype. If there is no out, it is broadcast and scaled
  // by beta.
  nanobind::handle addend = {};
};

nanobind::object matmul(nanobind::handle a, nanobind::handle b, nanobind::handle out,
                        nanobind::handle stream, const MatmulOptions& options);

/// One product of two matrices, with a rung.Epilogue.
nanobind::object matmul_with_epilogue(nanobind::handle a, nanobind::handle b, nanobind::handle out,
                                      nanobind::handle stream, const MatmulOptions& options,
                                      nanobind::handle epilogue);

/// alpha * (a @ b) + bias for matrices, rounded once, in out or in a new array with a's dtype; bias
/// may be None. Returns None and does nothing if the operands are incompatible or the library would
/// need copies. Does not record anything for autograd.
nanobind::object rounded_matmul(nanobind::handle a, nanobind::handle b, nanobind::handle bias,
                                double alpha, nanobind::handle out);

/// PyTorch's product of CPU tensors: alpha * (a @ b) + beta * addend in a's dtype, for matrices
/// (dims is 2) or batches (3); addend may be None. Returns None in cases that the caller should
/// handle.
nanobind::object product_on_cpu(nanobind::handle a, nanobind::handle b, int dims,
                                nanobind::handle addend, double beta, double alpha);

/// Grouped products; `offsets` is a Python sequence or an array.
nanobind::object grouped_matmul(nanobind::handle a, nanobind::handle b, nanobind::handle offsets,
                                nanobind::handle out, nanobind::handle stream,
                                const MatmulOptions& options);

/// Products of float8_e4m3fn elements with block scales; `offsets` of groups of rows, or None.
nanobind::object block_scaled_matmul(nanobind::handle a, nanobind::handle a_scales,
                                     nanobind::handle b, nanobind::handle b_scales,
                                     nanobind::handle offsets, nanobind::handle out,
                                     nanobind::handle stream, const MatmulOptions& options);

nanobind::object dot(nanobind::handle x, nanobind::handle y, const char* mode, nanobind::handle out,
                     int threads, nanobind::handle stream);

}  // namespace rung::python
