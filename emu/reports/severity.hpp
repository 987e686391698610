#pragma once
// How bad a report is, and what to do about it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rung::emu {

enum class Severity : std::uint8_t {
  note,     // leaks, writes of the same value, and early accesses without a conflict
  warning,  // the result may still be right on every GPU
  error,
};

/// "error", "warning" or "note".
const char* name(Severity severity);
std::optional<Severity> severity_named(std::string_view name);

// Kinds of accesses out of bounds, which have names of their own in reports.
inline constexpr std::string_view use_after_free = "use after free";
inline constexpr std::string_view host_pointer = "host pointer";
inline constexpr std::string_view null_pointer = "null pointer";

/// The severity of a report of this kind with this message.
Severity severity_of(std::string_view kind, std::string_view message);

/// One line in the imperative; empty for kinds without advice.
std::string_view advice_for(std::string_view kind);

}  // namespace rung::emu
