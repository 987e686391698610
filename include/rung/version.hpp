#pragma once

#include <string_view>

namespace rung {

/// The version of the headers. rung_version() in rung.h returns the version of the linked library.
inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;
inline constexpr std::string_view version = "0.1.0";

}  // namespace rung
