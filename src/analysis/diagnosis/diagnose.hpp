#pragma once
// The diagnosis of a kernel: each disease, by what it costs. Time is predicted with and without it.

#include <string>
#include <vector>

#include "analysis/diagnosis/time.hpp"

namespace rung::analysis::diagnosis {

struct Finding {
  std::string name, detail, remedy, code;
  std::string rung, idea;  // of a rung that shows the remedy; empty if none does
  double cost = 0;         // share of the time that would be saved
};

struct Diagnosis {
  Time time;                      // predicted
  std::vector<Finding> findings;  // what costs most first; empty if nothing is worth removing
};

Diagnosis diagnose(const Facts& facts);

}  // namespace rung::analysis::diagnosis
