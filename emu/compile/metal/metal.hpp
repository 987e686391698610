#pragma once
// Compiles Metal kernels of any signature for the virtual GPU.
//
// A file is preprocessed with __METAL__ and the like, its tokens are rewritten to C++ that clang
// accepts (source.hpp), and clang compiles that text with the library in emu/include/metal to PTX.
// Only the kernel that is asked for is compiled.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rung::emu::metal {

/// The layout of a type in memory, from debug information.
struct Type {
  enum class Kind : std::uint8_t {
    unknown,
    boolean,
    signed_integer,
    unsigned_integer,
    floating,  // half, bfloat and float: by name
    vector,    // `count` elements of `elements[0]`
    array,     // likewise
    structure,
    pointer,  // to `elements[0]`, which is absent for a pointer to a pointer
  };
  struct Field;

  Kind kind = Kind::unknown;
  std::string name;  // "float4", "Params"
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::vector<Type> elements;  // the element type of a vector, an array or a pointer
  std::vector<Field> fields;   // of a structure, in order
  bool is_read_only = false;   // of a pointer: to const, or to constant memory
};

struct Type::Field {
  std::string name;
  std::size_t offset = 0;  // bytes
  Type type;
};

/// How the host passes a kernel's parameter.
enum class ParameterKind : std::uint8_t {
  buffer,       // setBuffer: the PTX parameter is an address
  value,        // a reference to constant memory: the PTX parameter has the bytes
  threadgroup,  // setThreadgroupMemoryLength: no PTX parameter
  texture,      // the PTX parameter is the address of a TextureDescriptor
  sampler,      // the PTX parameter is the sampler's 32-bit state
};

struct Parameter {
  std::string name;  // "a"
  std::string type;  // as written, without attributes: "const device float*"
  ParameterKind kind = ParameterKind::buffer;
  int index = 0;  // of [[buffer(n)]], [[threadgroup(n)]], [[texture(n)]], [[sampler(n)]]
  bool is_read_only = false;  // constant, or const
  bool is_optional =
      false;               // a function constant decides, as in [[buffer(1), function_constant(b)]]
  Type element;            // the type pointed to; filled in by compile()
  int ptx_parameter = -1;  // index in the entry's parameters; -1 for threadgroup memory
};

struct Kernel {
  std::string name;  // by which the host finds it: host_name, or the function's name
  std::string file;
  int line = 0;
  std::vector<Parameter> parameters;  // without the positions of threads
};

struct FunctionConstant {
  std::string name, type;
  int index = 0;
  bool has_value = false;  // Options::function_constants has one
  std::string file;
  int line = 0;
};

struct Options {
  std::vector<std::string> compiler;  // "-Ifolder", "-DN=4", "-Wall"
  /// Values by name or index of a function constant, as C++
  /// expressions. Others are undefined: compile()
  /// refuses a kernel that depends on one of them.
  std::map<std::string, std::string> function_constants;
  /// The text to compile instead of the file's; the file's name is that in messages.
  std::optional<std::string> text;
  /// C++ that follows the rewritten text, such as constants for the host.
  std::string appended;
  bool is_quiet = false;  // keep the compiler's messages out of standard error, see CompileError
};

struct Description {
  std::vector<Kernel> kernels;
  std::vector<FunctionConstant> function_constants;
};

/// The kernels of a file, which is only preprocessed. Throws CompileError and MissingTool.
Description describe(const std::filesystem::path& file, const Options& options = {});

/// The file's text with its includes and macros, for Options::text of
/// later calls without the options
/// -I and -D. Throws as describe().
std::string expand(const std::filesystem::path& file, const Options& options = {});

/// Compiles all kernels of a file without generating code. Throws CompileError and MissingTool.
Description check(const std::filesystem::path& file, const Options& options = {});

struct Compiled {
  std::string ptx;
  std::string entry;  // the name of the PTX entry
  Kernel kernel;
};

/// Compiles one kernel; the first if `kernel` is empty. Throws CompileError, whose text has the
/// compiler's messages if they are kept quiet, and MissingTool. Results are kept
/// in the cache of rung emu.
Compiled compile(const std::filesystem::path& file, const std::string& kernel,
                 const Options& options = {});

/// PTX of all kernels of a file.
std::string compile_all(const std::filesystem::path& file, const Options& options = {});

/// The memory that a texture's PTX parameter points to. Each texel has four elements of four bytes
/// (float, int or uint), whatever the format; rows, slices and array elements follow each other.
struct TextureDescriptor {
  std::uint32_t width = 1, height = 1, depth = 1, array_length = 1;
  std::uint64_t texels = 0;  // address
};

}  // namespace rung::emu::metal
