#pragma once
// Everything known about a rung besides its code, read from the header comment of its file.

#include <string>
#include <string_view>
#include <vector>

#include "core/compute_mode.hpp"

namespace rung {

struct RungInfo {
  std::string id;          // "gemm/cpu/05_micro_kernel"
  std::string op;          // "gemm"
  std::string backend;     // "cpu"
  std::string slug;        // "05_micro_kernel"
  std::string idea;        // one sentence
  std::string from;        // slug of the rung it improves on; empty for the first
  std::string removes;     // the bottleneck of `from` that it removes
  std::string bottleneck;  // what limits it now
  std::string needs;       // its requirements on device or problem
  std::string shown_by;    // the command that demonstrates it
  ComputeMode compute_mode = ComputeMode::standard;
  std::string_view source;  // the whole file
};

/// Reads the header comment of a rung file. Its grammar, one or more lines per field:
///
///     // <op>/<backend>/<NN_slug>: <idea, one sentence>.
///     // from: <slug or nothing> | removes: <bottleneck> | bottleneck: <what limits it now>
///     // needs: <requirements, or nothing> | try: <command>
///
/// A rung of another compute mode than standard has `| compute mode: <name>` before `| try:`.
/// Continuation lines are indented by two more spaces. A rung of op `sum` has the header of the dot
/// product's file that defines it (kernels/dot/cuda/sums.inc).
///
/// A CUDA rung whose kernels spill registers must say "spills" in its bottleneck field
/// (scripts/cuda_resources.py checks this).
///
/// Throws std::invalid_argument with the id and the missing field.
RungInfo parse_rung(std::string_view id, std::string_view source);

/// All rungs built into this program, in ladder order: gemm before dot, backend by backend.
const std::vector<RungInfo>& catalog();

/// The rungs that match any of the selectors (`op`, `op/backend` or `op/backend/NN…`), in ladder
/// order and without duplicates. An empty list selects all. Throws std::invalid_argument with the
/// first selector that matches nothing.
std::vector<const RungInfo*> select(const std::vector<std::string>& selectors);

}  // namespace rung
