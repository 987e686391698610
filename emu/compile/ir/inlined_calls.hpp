#pragma once
// The calls for which LLVM has inlined functions, in PTX. LLVM 19 writes no inlined_at for it.

#include <string>
#include <string_view>

namespace rung::emu {

struct InlinedCalls {
  /// The module, in which the column of each location is the number of the call that it was inlined for, or 0.
  std::string module;
  /// Comments that tell the calls' lines, one per call: // rung.inlined CALL LINE INLINED_BY FILE
  std::string comments;
};
/// `module`: LLVM IR, as text, after all inlining.
InlinedCalls number_inlined_calls(std::string_view module);

/// The PTX with the comments after its head.
std::string with_inlined_calls(const std::string& ptx, const std::string& comments);

}  // namespace rung::emu
