#pragma once
// clang as a compiler of device code that keeps nvcc's promises: the one place for its options, for
// every kind of device code that Rung compiles while it runs.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace rung::emu {

/// The PTX ISA version that clang may generate for CUDA.
inline constexpr const char* ptx_feature = "+ptx83";

/// Options of clang's driver and of `clang -cc1` under which these assumptions of clang, which nvcc
/// does not make, are off: objects of different types may be at one address, loops need not end,
/// null may be compared after it was dereferenced, a function may end without its return statement.
/// Signed integers may overflow in neither compiler (CUDA C++ Best Practices Guide, "Loop Counters
/// Signed vs. Unsigned").
std::vector<std::string> device_semantics();

struct DeviceTarget {
  std::string architecture;     // "sm_90"
  bool is_optimised = true;     // -O3, otherwise -O0
  bool is_relocatable = false;  // bitcode rather than PTX
};

/// Compiles the device code of `source` to `output`. `frontend` is the compiler and its options but
/// the target and the output. Throws CompileError.
void compile_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                         const std::string& source, const std::filesystem::path& output);
/// The same with `run`, which runs a command and throws CompileError if it fails, for the front end.
using RunFrontEnd = std::function<void(const std::vector<std::string>& command)>;
void compile_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                         const std::string& source, const std::filesystem::path& output,
                         const RunFrontEnd& run);

/// Writes the same code as LLVM IR with full debug information. It is only to be read: clang 19 crashes when
/// it generates code from IR whose debug information is reduced to line tables.
void describe_device_code(std::vector<std::string> frontend, const DeviceTarget& target,
                          const std::string& source, const std::filesystem::path& output);

/// clang 19 knows no target after sm_90a. Code for Blackwell is compiled for that one, with the macros of its own,
/// and inline assembly adds its instructions; this sets the target in the text.
void set_target(const std::filesystem::path& ptx, const std::string& architecture);

/// The command that compiles LLVM IR or bitcode, named last, for the target.
std::vector<std::string> code_generator(const std::string& clang, const DeviceTarget& target);

/// Compiles LLVM IR or bitcode to PTX with the calls that were inlined (inlined_calls.hpp). `sources`: the file, and
/// options that name further ones.
void generate_ptx(const std::string& clang, const DeviceTarget& target,
                  const std::vector<std::string>& sources, const std::filesystem::path& ptx);

}  // namespace rung::emu
