#pragma once
// The conditions for each performance problem, and sentences that describe the observation.

#include <string>

#include "tools/analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis::signs {

bool is_uncoalesced(const Facts& f);
bool is_misaligned(const Facts& f);
bool has_conflicts(const Facts& f);
bool diverges(const Facts& f);
bool has_partial_warps(const Facts& f);
bool works_alone(const Facts& f);
bool has_few_blocks(const Facts& f);
bool has_tail(const Facts& f);
bool has_uneven_blocks(const Facts& f);
bool has_uneven_warps(const Facts& f);
bool has_few_warps(const Facts& f);
bool waits_for_loads(const Facts& f);
bool uses_local_memory(const Facts& f);
bool contends_in_global_atomics(const Facts& f);
bool adds_once_per_block(const Facts& f);
bool contends_in_shared_atomics(const Facts& f);
bool has_barriers(const Facts& f);
bool has_narrow_accesses(const Facts& f);
bool loads_again(const Facts& f);
bool loads_shared_often(const Facts& f);
bool uses_doubles_needlessly(const Facts& f);
bool divides(const Facts& f);
bool computes_addresses(const Facts& f);
bool stores_again(const Facts& f);

bool has_strided_tree(const Facts& f);
bool steps_through_shared(const Facts& f);
bool accesses_structures(const Facts& f);
bool gathers(const Facts& f);
bool scatters_stores(const Facts& f);
bool spills(const Facts& f);
bool divides_integers(const Facts& f);
bool diverges_by_data(const Facts& f);
bool passes_again(const Facts& f);
bool leaves_tensor_cores_idle(const Facts& f);
bool chases(const Facts& f);

std::string strided_tree(const Facts& f);
std::string structures(const Facts& f);
std::string gather(const Facts& f);
std::string spilled(const Facts& f);
std::string divergence_by_data(const Facts& f);
std::string passes(const Facts& f);
std::string idle_tensor_cores(const Facts& f);
std::string chain_of_loads(const Facts& f);
std::string uncoalesced(const Facts& f);
std::string misaligned(const Facts& f);
std::string conflicts(const Facts& f);
std::string divergence(const Facts& f);
std::string partial_warps(const Facts& f);
std::string alone(const Facts& f);
std::string few_blocks(const Facts& f);
std::string tail(const Facts& f);
std::string uneven_blocks(const Facts& f);
std::string uneven_warps(const Facts& f);
std::string few_warps(const Facts& f);
std::string waiting(const Facts& f);
std::string local_memory(const Facts& f);
std::string global_atomics(const Facts& f);
std::string atomics_of_blocks(const Facts& f);
std::string shared_atomics(const Facts& f);
std::string barriers(const Facts& f);
std::string barriers_of_steps(const Facts& f);
std::string narrow(const Facts& f);
std::string repeated_loads(const Facts& f);
std::string shared_loads(const Facts& f);
std::string doubles(const Facts& f);
std::string divisions(const Facts& f);
std::string addresses(const Facts& f);
std::string repeated_stores(const Facts& f);

}  // namespace rung::analysis::diagnosis::signs
