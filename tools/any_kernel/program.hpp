#pragma once
// The kernels of a CUDA, Metal or PTX file, compiled for the virtual GPU.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/any_kernel/types.hpp"

namespace rung::any_kernel {

/// A parameter that the caller sets. Positions such as [[thread_position_in_grid]] are not among them.
struct Parameter {
  enum class Kind : std::uint8_t {
    buffer,       // an address; `type` is a pointer or a reference
    value,        // passed by value
    threadgroup,  // memory whose size the dispatch sets; no parameter of the entry
    texture,      // Metal; `type` is a pointer to texels
    sampler,      // Metal: passed by value
  };

  Kind kind = Kind::value;
  std::string name;  // empty if the source gives none
  TypePtr type;
  int index = 0;  // of [[buffer(n)]], [[texture(n)]] and the like; in CUDA, the position from 0
  int entry = 0;  // position among the entry's parameters
  /// A Metal kernel may lack it, depending on function constants: null or 0 without a value.
  bool is_optional = false;

  /// The name, or the index.
  std::string label() const { return name.empty() ? std::to_string(index) : name; }
};

struct Kernel {
  std::string name;    // "softmax<float, 128>"
  std::string symbol;  // of the entry in the PTX
  int line = 0;
  std::vector<Parameter> parameters;
};

struct ProgramRequest {
  std::filesystem::path path;
  std::string kernel;                // "softmax<float,128>"; empty: all that are not templates
  std::vector<std::string> options;  // for the compiler: "-Iinclude", "-DN=4"
  int arch = 90;                     // compute capability, times ten
  /// By name; those of Metal's function constants are compiled in.
  std::vector<std::pair<std::string, std::string>> arguments;
  /// Only names are needed: a kernel with function constants, which have no values then, is not compiled.
  bool is_list = false;
};

struct Program {
  std::filesystem::path path;
  std::string text;  // of the file
  std::string ptx;
  std::string code;  // "PTX for sm_90a by clang++-19"
  bool is_metal = false;
  std::vector<Kernel> kernels;
  std::vector<std::string> templates;  // kernels that need template arguments, by name
  std::vector<std::string> constants;  // Metal's function constants, by name

  std::string file_name() const { return path.filename().string(); }
  /// By its symbol, or by its name with or without namespaces; blanks do not matter. An empty name stands for
  /// the only kernel.
  /// Throws ArgumentError, which lists the kernels.
  const Kernel& find(std::string_view name) const;
};

/// Compiles the file, or takes the result from the cache of `rung emu`. Throws ArgumentError,
/// emu::MissingTool or emu::CompileError; compiler messages go to standard error.
Program compile_program(const ProgramRequest& request);

}  // namespace rung::any_kernel
