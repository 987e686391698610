#pragma once
// Headers of Apple's metal-cpp: programs read this project's instead of the copies in their projects, and under the
// names of single classes.

#include <filesystem>
#include <string>

#include "apps/rung_metal/words.hpp"

namespace rung::emu {

/// An overlay for clang (-ivfsoverlay) that replaces metal-cpp's headers by those in `own`, wherever they are
/// near the sources and in the folders that -I names, and has the names of headers of single classes.
std::string metal_cpp_overlay(const Words& words, const std::filesystem::path& own);

}  // namespace rung::emu
