#pragma once
// The causes of low performance: the condition on the counters, the modeled cure, and a remedy.

#include <span>
#include <string>

#include "tools/analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

struct Disease {
  const char* name;  // "uncoalesced accesses"
  bool (*applies)(const Facts&);
  Cure cure;
  std::string (*detail)(const Facts&);  // one sentence, with figures
  const char* remedy;                   // in words
  const char* code;                     // in CUDA; lines of at most 76 characters
  const char* rung;                     // demonstrates the remedy; may be empty
  const char* rung_of_sums = rung;      // the same for a kernel that reduces many elements to few
};

/// More specific ones first: of two with the same cost, the first is reported.
std::span<const Disease> diseases();

}  // namespace rung::analysis::diagnosis
