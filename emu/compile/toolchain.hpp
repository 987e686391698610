#pragma once
// Compiles CUDA programs so that they run on the virtual GPU. clang compiles each .cu file twice:
// device code to PTX (or nvcc does, with CUDA's own headers), and host code with that PTX embedded.
// Objects are linked with the runtime library (librung_emu.so), which contains the CUDA runtime API
// and the virtual GPU.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace rung::emu {

/// The locations of this project's own headers and runtime library.
struct Installation {
  std::filesystem::path include;  // with cuda_runtime.h
  std::filesystem::path library;  // librung_emu.so
  std::filesystem::path cccl;  // Thrust, CUB and libcu++ of a CUDA toolkit; empty without a toolkit
};

/// The folder with thrust/, cub/ and cuda/ in the toolkit of CUDA_PATH, of nvcc on the PATH, or in
/// /usr/local/cuda; empty without a toolkit. Headers that a program names with -I come first.
std::filesystem::path find_cccl();

/// Searches next to this executable (the build folder) and in its prefix (an installed tree).
/// Throws MissingTool, naming both.
Installation find_installation();

/// clang++ 19 or later, or the value of RUNG_CLANG. Throws MissingTool.
std::string find_clang();

/// nvcc on the PATH or in /usr/local/cuda/bin. Throws MissingTool.
std::string find_nvcc();

/// A required tool is not installed.
struct MissingTool : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The source has errors, which the compiler or linker has printed on standard error, or what()
/// contains.
struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CompileOptions {
  std::vector<std::filesystem::path> sources;  // CUDA, C++ and C by suffix; .o, .a and .so: linked
  std::vector<std::string> passed;             // to the compiler: -I… -D… -std=… -O…
  std::vector<std::string> linked;             // to the linker: -l… -L… -Wl,…
  std::string architecture;                    // "sm_90"
  std::string nvcc;                            // compiles device code; empty: clang does
  bool relocatable = false;     // device code may call that of other files, as nvcc's -rdc=true
  bool all_cuda = false;        // every source is CUDA, whatever its suffix, as nvcc's -x cu
  std::filesystem::path cache;  // of objects, see object_cache.hpp; empty: none
};

/// Objects and libraries are linked; other sources are compiled first.
bool is_link_input(const std::filesystem::path& source);

/// The compiler's command line for this source, up to what shall be made of it.
std::vector<std::string> compiler_arguments(const CompileOptions& options,
                                            const std::filesystem::path& source,
                                            const Installation& installation,
                                            const std::string& clang);

/// Compiles one source to `object`. Throws CompileError. Intermediate files go to `folder`.
/// `dependencies` are options for the host's compiler: -MD -MF FILE -MT TARGET. The files that clang reads
/// for device code are listed in `device_dependencies`, if that is not empty.
void compile_object(const CompileOptions& options, const std::filesystem::path& source,
                    const std::filesystem::path& object, const Installation& installation,
                    const std::string& clang, const std::filesystem::path& folder,
                    const std::vector<std::string>& dependencies = {},
                    const std::filesystem::path& device_dependencies = {});

/// The device code that compile_object() leaves beside such an object of a CUDA source; empty for
/// other sources.
std::filesystem::path device_code_beside(const CompileOptions& options,
                                         const std::filesystem::path& source,
                                         const std::filesystem::path& object);

/// Compiles the device code of a CUDA source to PTX, or to bitcode if it is relocatable. Throws
/// CompileError.
void compile_device(const CompileOptions& options, const std::filesystem::path& source,
                    const std::filesystem::path& ptx, const Installation& installation,
                    const std::string& clang);

struct DescribedCode {
  std::string appended;  // to the source's text, such as instantiations of templates
  // Files that are written: PTX, LLVM IR with full debug information, and the files that clang reads.
  std::filesystem::path ptx, described, dependencies;
};

/// Compiles the device code of a CUDA source as a whole program has it. Other files are written beside the
/// PTX. Throws CompileError.
void compile_described(const CompileOptions& options, const std::filesystem::path& source,
                       const DescribedCode& code, const Installation& installation,
                       const std::string& clang);

/// Links `objects` and options.linked to `program`. Throws CompileError.
void link_program(const CompileOptions& options, const std::vector<std::filesystem::path>& objects,
                  const std::filesystem::path& program, const Installation& installation,
                  const std::string& clang, const std::filesystem::path& folder);

/// Compiles and links everything. Returns the path of the program, which is created in `folder` and
/// has the name of the first source. The PTX of that source is next to it, as PROGRAM.ptx. Throws
/// CompileError.
std::filesystem::path compile(const CompileOptions& options, const Installation& installation,
                              const std::string& clang, const std::filesystem::path& folder);

/// External functions that the PTX calls and the virtual GPU lacks. Throws vgpu::ptx::ParseError,
/// with the line, for PTX that the virtual GPU could not parse later either.
std::vector<std::string> missing_functions(const std::string& ptx);

}  // namespace rung::emu
