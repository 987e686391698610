#pragma once
// Processes a PTX text from parsing to the end of a launch.

#include <string>
#include <string_view>

namespace rung::vgpu {

/// The last stage that a text reached.
enum class PtxOutcome { not_parsed, not_loaded, not_launched, faulted, finished };

struct PtxCase {
  PtxOutcome outcome = PtxOutcome::not_parsed;
  std::string message;    // the error or the first hazard; empty if there was none
  std::string violation;  // of the virtual GPU's guarantees for every text; empty if there was none
};

/// Parses the text, loads it into a few MiB of device memory, lowers each of its kernels, and
/// launches each on 2 blocks of 64 threads with an instruction limit. Malformed text may throw
/// ParseError, std::invalid_argument or std::bad_alloc with a one-line message; anything else is a
/// violation.
PtxCase run_ptx_case(std::string_view text);

}  // namespace rung::vgpu
