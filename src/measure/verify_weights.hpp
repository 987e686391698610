#pragma once
// Verifies the rungs that multiply by packed weights: they have no problem of two plain matrices.

#include <functional>
#include <string_view>

#include "backends/backend.hpp"
#include "core/dtype.hpp"
#include "core/verify.hpp"

namespace rung {

/// Whether a rung multiplies by packed weights.
bool takes_packed_weights(std::string_view id);

/// Calls judge(verdict) for each of some products of a type of 16 bits that the library computes by this
/// rung: both widths of weights, both sizes of groups, whole tiles and cut ones. None for other types.
void verify_packed_weights(std::string_view id, Dtype dtype, const Backend& backend, int threads,
                           const std::function<void(const Verdict&)>& judge);

}  // namespace rung
