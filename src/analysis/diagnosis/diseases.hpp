#pragma once
// What makes a kernel slow: its sign in the counters, its cure, and what to write instead.

#include <span>
#include <string>

#include "analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

struct Disease {
  const char* name;  // "uncoalesced accesses"
  bool (*applies)(const Facts&);
  Cure cure;
  std::string (*detail)(const Facts&);  // one sentence, with figures
  const char* remedy;                   // in words
  const char* code;                     // in CUDA; lines of at most 76 characters
  const char* rung;                     // that shows the remedy, or empty
};

/// More specific ones first: of two that cost the same, the first is told.
std::span<const Disease> diseases();

}  // namespace rung::analysis::diagnosis
