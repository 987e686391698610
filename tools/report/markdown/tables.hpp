#pragma once
// One function for each kind of table in markdown.hpp. They throw std::runtime_error if the results lack what the
// table shows.

#include <string>

#include "tools/report/bench_results.hpp"

namespace rung::markdown {

std::string machine(const Results& results);
std::string ladder(const Results& results);
std::string library(const Results& results);
std::string reading(const Results& results);
std::string summary(const Results& results);
std::string products(const Results& results);
std::string headline(const Results& results);
std::string random(const Results& results);

}  // namespace rung::markdown
