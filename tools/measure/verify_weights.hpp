#pragma once
// Verifies rungs that multiply by packed weights. Their problems are not products of two ordinary
// matrices.

#include <functional>
#include <string_view>

#include "backends/backend.hpp"
#include "core/element_types.hpp"
#include "core/verify.hpp"

namespace rung {

/// True if a rung multiplies by packed weights.
bool takes_packed_weights(std::string_view id);

/// Calls judge(verdict) for several products of a 16-bit type that the library computes with this
/// rung: both bit widths of weights, both group sizes, full and partial tiles. Does nothing for
/// other types.
void verify_packed_weights(std::string_view id, Dtype dtype, const Backend& backend, int threads,
                           const std::function<void(const Verdict&)>& judge);

}  // namespace rung
