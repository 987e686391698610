#pragma once

#include <nanobind/nanobind.h>

#include "matmul.hpp"
#include "rung/rung.h"

namespace rung::python {

/// The result of rung.pack_weights: a description, and an array of bytes with the weights.
struct PackedWeights {
  nanobind::object memory;
  rung_packed_weights description = {};
};

/// The state for pickle and copy.deepcopy: the array and the description.
nanobind::tuple state_of(const PackedWeights& weights);
/// Throws ValueError if the state is invalid.
PackedWeights weights_of(nanobind::tuple state);

/// `zeros` may be None.
PackedWeights pack_weights(nanobind::handle elements, nanobind::handle scales,
                           nanobind::handle zeros, int bits, int threads, nanobind::handle stream);

nanobind::object weight_only_matmul(nanobind::handle a, const PackedWeights& weights,
                                    nanobind::handle out, nanobind::handle stream,
                                    const MatmulOptions& options);

}  // namespace rung::python
