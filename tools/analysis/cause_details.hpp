#pragma once
// The sentence that explains each cause, with figures. `value` is the value of the rule.

#include <string>

#include "tools/analysis/evidence.hpp"

namespace rung::analysis::details {

std::string scattered(const Evidence& e, double value);
std::string idle(const Evidence& e, double value);
std::string from_global(const Evidence& e, double value);
std::string from_shared(const Evidence& e, double value);
std::string narrow(const Evidence& e, double value);
std::string conflicts(const Evidence& e, double value);
std::string busy(const Evidence& e, double value);
std::string exposed_global(const Evidence& e, double value);
std::string staging(const Evidence& e, double value);
std::string exposed_shared(const Evidence& e, double value);
std::string idle_machine(const Evidence& e, double value);
std::string few(const Evidence& e, double value);
std::string intermediate(const Evidence& e, double value);
std::string by_host(const Evidence& e, double value);
std::string issued(const Evidence& e, double value);
std::string at_barriers(const Evidence& e, double value);
std::string on_the_way(const Evidence& e, double value);
std::string several_launches(const Evidence& e, double value);
std::string by_themselves(const Evidence& e, double value);
std::string drained(const Evidence& e, double value);
std::string ends(const Evidence& e, double value);
std::string from_l2(const Evidence& e, double value);
std::string by_threads(const Evidence& e, double value);
std::string refused(const Evidence& e, double value);
std::string rounded(const Evidence& e, double value);

}  // namespace rung::analysis::details
