#pragma once

#include <array>
#include <cstddef>

namespace rung::emu {

/// The name of a library's status, for names that count from 0; `unknown` beyond them.
template <std::size_t COUNT>
const char* status_name(const std::array<const char*, COUNT>& names, int status,
                        const char* unknown) {
  const auto index = static_cast<std::size_t>(status);
  return index < COUNT ? names[index] : unknown;
}

}  // namespace rung::emu
