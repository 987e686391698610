#pragma once
// Cache misses and instruction mix of one call of a CPU rung, as valgrind counts them.

#include <optional>
#include <string>

#include "arguments.hpp"
#include "core/rung.hpp"
#include "tools/analysis/callgrind.hpp"
#include "tools/report/json.hpp"

namespace rung {

struct CountedCall {
  SizeArgument size;  // the problem's, or a smaller one: valgrind is slow
  std::string isa;    // valgrind's CPU may have fewer instruction sets than this one
  analysis::CallgrindProfile profile;
  std::optional<analysis::InstructionMix> mix;  // none without objdump

  std::string text(const RungInfo& rung) const;
  Json json() const;
};

/// Runs this program under valgrind, for seconds. Empty where it cannot; `why_not` says why then.
std::optional<CountedCall> count_call(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                                      std::string& why_not);

/// The body of that program: calls the rung on one thread, once before and `calls` times within
/// rung_counted_calls(), and prints the instruction set that kernels use.
void call_for_a_profiler(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                         std::int64_t calls);

}  // namespace rung
