#pragma once
// Names of compute modes.

#include <optional>
#include <string_view>

#include "rung/options.hpp"

namespace rung {

inline constexpr ComputeMode all_compute_modes[] = {ComputeMode::standard, ComputeMode::split,
                                                    ComputeMode::reproducible,
                                                    ComputeMode::batch_invariant};

constexpr std::string_view name(ComputeMode mode) {
  switch (mode) {
    case ComputeMode::standard: return "standard";
    case ComputeMode::split: return "split";
    case ComputeMode::reproducible: return "reproducible";
    case ComputeMode::batch_invariant: return "batch_invariant";
  }
  return "unknown";
}

/// Returns nothing for an unknown name.
constexpr std::optional<ComputeMode> parse_compute_mode(std::string_view text) {
  for (const ComputeMode mode : all_compute_modes) {
    if (name(mode) == text) return mode;
  }
  return std::nullopt;
}

}  // namespace rung
