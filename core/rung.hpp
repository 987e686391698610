#pragma once
// The description of a rung, parsed from the header comment of its source file.

#include <string>
#include <string_view>
#include <vector>

#include "core/compute_mode.hpp"
#include "core/former_ids.hpp"

namespace rung {

struct RungInfo {
  std::string id;          // "gemm/cpu/05_micro_kernel"
  std::string op;          // "gemm"
  std::string backend;     // "cpu"
  std::string slug;        // "05_micro_kernel", or "just_in_time" of a kernel of the library
  std::string idea;        // one sentence
  std::string from;        // slug of the rung it improves on; empty for the first
  std::string removes;     // the bottleneck of `from` that it removes
  std::string bottleneck;  // what limits it now
  std::string needs;       // requirements on the device or the problem
  std::string shown_by;    // the command that demonstrates it
  ComputeMode compute_mode = ComputeMode::standard;
  std::string_view source;  // the whole file

  /// False for the library's kernels.
  bool is_on_ladder() const { return slug.front() >= '0' && slug.front() <= '9'; }
};

/// Parses the header comment of a rung file. Its grammar, one or more lines per field:
///
///     // <op>/<backend>/<slug>: <idea, one sentence>.
///     // from: <slug or nothing> | removes: <bottleneck> | bottleneck: <what limits it now>
///     // needs: <requirements, or nothing> | try: <command>
///
/// A rung in a compute mode other than `standard` has `| compute mode: <name>` before `| try:`.
/// Continuation lines are indented by two more spaces. A rung of op `sum` has the header of the
/// dot-product file that defines it (ladder/dot/cuda/sums.inc).
///
/// A CUDA rung whose kernels spill registers must contain "spills" in its bottleneck field
/// (scripts/cuda_resources.py checks this).
///
/// Throws std::invalid_argument with the id and the missing field.
RungInfo parse_rung(std::string_view id, std::string_view source);

/// All rungs built into this program in ladder order, gemm before dot, backend by backend; then the
/// library's kernels in the same order.
const std::vector<RungInfo>& catalog();

/// The rungs that match any of the selectors, in the catalog's order and without duplicates. A selector
/// is `op`, `op/backend`, an id or the beginning of ids, `op/backend/NN…`; ids include former ones. An
/// empty list selects all. Throws std::invalid_argument with the first selector that matches nothing.
std::vector<const RungInfo*> select(const std::vector<std::string>& selectors);

/// The model of the virtual GPU that runs a CUDA or Metal rung if none is named: m1pro for Metal, b200 for
/// rungs of sm_100a, h200 for all others.
std::string usual_gpu(const RungInfo& rung);

/// The former ids by which the selectors select rungs.
std::vector<FormerId> former_ids_in(const std::vector<std::string>& selectors);

}  // namespace rung
