#pragma once
// What is known about a rung apart from its code: read from the header comment of its file.

#include <string>
#include <string_view>
#include <vector>

namespace rung {

struct RungInfo {
  std::string id;           // "gemm/cpu/05_micro_kernel"
  std::string op;           // "gemm"
  std::string backend;      // "cpu"
  std::string slug;         // "05_micro_kernel"
  std::string idea;         // one sentence
  std::string from;         // slug of the rung it comes from; empty for the first
  std::string removes;      // the bottleneck it removes
  std::string limit;        // what limits it now
  std::string needs;        // what it requires of machine or problem
  std::string shown_by;     // the command that shows it
  std::string_view source;  // the whole file
};

/// Reads the header comment of a rung file. Its grammar, one line or more a field:
///
///     // <op>/<backend>/<NN_slug>: <idea, one sentence>.
///     // from: <slug or nothing> | removes: <bottleneck> | limit: <what limits it now>
///     // needs: <requirements, or nothing> | try: <command>
///
/// One of op sum has the header of the dot product's file that it is in
/// (kernels/dot/cuda/sums.inc).
///
/// A CUDA rung that spills registers to memory says "spills" in its limit: no other may
/// (scripts/cuda_resources.py).
///
/// Throws std::invalid_argument with the id and the field that is missing.
RungInfo parse_rung(std::string_view id, std::string_view source);

/// Every rung built into this program, in ladder order: gemm before dot, backend by backend.
const std::vector<RungInfo>& catalog();

/// The rungs that match any of the selectors (`op`, `op/backend` or `op/backend/NN…`), in ladder
/// order, each once. An empty list selects all. Throws std::invalid_argument naming a selector that
/// matches nothing.
std::vector<const RungInfo*> select(const std::vector<std::string>& selectors);

}  // namespace rung
