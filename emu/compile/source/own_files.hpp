#pragma once
// The files of a program that its compiler will read: a source and the headers it includes, found by
// their names alone, with or without a condition around them.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rung::emu {

/// CUDA's C++ libraries' header of barriers in shared memory, where the compiler finds it; empty if it
/// does not, or if the libraries are of another release.
std::filesystem::path barrier_header(const std::vector<std::string>& arguments);

/// The texts of the source, of the headers next to it or in the folders of -I, and of those that these
/// include, by their absolute paths. Headers of this project and of the system are left out. `arguments`
/// are the compiler's.
std::map<std::string, std::string> own_files(const std::filesystem::path& source,
                                             const std::vector<std::string>& arguments);

}  // namespace rung::emu
