#pragma once
// Names of compute modes.

#include <string_view>

#include "rung/options.hpp"

namespace rung {

constexpr std::string_view name(ComputeMode mode) {
  switch (mode) {
    case ComputeMode::standard: return "standard";
  }
  return "unknown";
}

}  // namespace rung
