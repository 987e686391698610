#pragma once
// Copies of Apple's metal-cpp in a project: programs shall read this project's headers instead.

#include <filesystem>
#include <string>

#include "apps/rung_metal/words.hpp"

namespace rung::emu {

/// An overlay for clang (-ivfsoverlay) that replaces metal-cpp's headers by those in `own`, wherever they are
/// near the sources and in the folders that -I names. Empty without such headers.
std::string metal_cpp_overlay(const Words& words, const std::filesystem::path& own);

}  // namespace rung::emu
