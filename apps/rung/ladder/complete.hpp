#pragma once
// The complete program, build/bin/rung, as the small one, build/ladder/rung, finds it.

#include <filesystem>

namespace rung {

inline constexpr const char* not_built =
    "not built yet; `make` builds it, in about 8 minutes on two cores";

inline std::filesystem::path complete_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin/rung";
}

inline bool is_complete_built() { return std::filesystem::exists(complete_program()); }

}  // namespace rung
