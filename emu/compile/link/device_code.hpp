#pragma once
// Relocatable device code, nvcc's -rdc=true: each object carries the LLVM bitcode of its device
// half in a section of its own; clang links those of all objects into one PTX, with an object that
// registers it and every kernel and variable.

#include <filesystem>
#include <string>
#include <vector>

#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu {

/// Text for the host's compiler that embeds the bitcode in that section.
std::string embedding_assembly(const std::filesystem::path& bitcode);

/// The objects, and the static libraries that -l and -L among the linker's options name.
std::vector<std::filesystem::path> with_static_libraries(std::vector<std::filesystem::path> objects,
                                                         const std::vector<std::string>& linked);

/// The bitcodes in the objects and archives, as files in `folder`. Files of other kinds have none.
std::vector<std::filesystem::path> extract_bitcode(
    const std::vector<std::filesystem::path>& objects, const std::filesystem::path& folder);

/// Links the bitcodes to PTX and compiles the object that registers it: an empty one without any
/// bitcodes, as CMake links the device code of objects that have none. Throws CompileError.
void link_device_code(const std::vector<std::filesystem::path>& bitcodes,
                      const std::string& architecture, const std::filesystem::path& object,
                      const std::string& clang, const std::filesystem::path& folder);

/// Throws CompileError if the PTX calls an undefined function. `what` names the PTX in the message.
void check_calls(const std::string& what, const std::string& ptx);

/// All bytes; none if there is no such file.
std::string read_file(const std::filesystem::path& path);

/// Throws CompileError if a compiler or linker, which has printed the reason, failed.
void check_status(const std::vector<std::string>& command, const ExitStatus& status);

/// Runs a compiler or linker. Throws CompileError if it fails, Interrupted if a signal came.
void run_compiler(const std::vector<std::string>& command);

}  // namespace rung::emu
