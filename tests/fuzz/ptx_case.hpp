#pragma once
// One PTX text from its first character to the end of a launch.

#include <string>
#include <string_view>

namespace rung::vgpu {

/// How far a text came.
enum class PtxOutcome { not_parsed, not_loaded, not_launched, faulted, finished };

struct PtxCase {
  PtxOutcome outcome = PtxOutcome::not_parsed;
  std::string message;  // the error or the first hazard; empty if there was none
  std::string
      violation;  // of what the virtual GPU promises for every text; empty if there was none
};

/// Parses the text, loads it into a few MiB of device memory, lowers each of its kernels and
/// launches them on 2 blocks of 64 threads with a budget of instructions. An error is a ParseError,
/// std::invalid_argument or std::bad_alloc with a message of one line; anything else is a
/// violation.
PtxCase run_ptx_case(std::string_view text);

}  // namespace rung::vgpu
