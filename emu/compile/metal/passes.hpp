#pragma once
// The passes that turn Metal into C++ that clang accepts. Each rewrites the text of tokens.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emu/compile/metal/metal.hpp"
#include "emu/compile/metal/source.hpp"

namespace rung::emu::metal {

/// A kernel's parameter as an argument of the call in its entry.
struct Argument {
  std::string position;  // "thread_position_in_grid"; otherwise empty
  Parameter parameter;
};

/// A kernel with the expression that names it in C++.
struct KernelEntry {
  std::string name;        // by which the host finds it
  std::string expression;  // "rung::naive<float, float>"
  std::string file;
  int line = 0;
  std::vector<Argument> arguments;
};

struct Declarations {
  std::vector<KernelEntry> kernels;
  std::vector<FunctionConstant> function_constants;
  std::string errors;  // what Metal refuses about kernels, a line each
};

/// "file.metal:3: error: …" with a line break.
std::string error_at(const Source& source, std::size_t at, std::string_view message);
/// A line for each word and declaration that Metal lacks and clang accepts, such as double and
/// goto.
std::string forbidden_words(const Source& source);
/// The names of types that are no address and no parameter of a template.
std::set<std::string> plain_types(const Source& source);
/// A line for each pointer or reference that names no address space.
std::string pointers_without_space(const Source& source);
/// Removes `#pragma unroll(N)`: the preprocessor does not expand macros there.
void remove_unroll_counts(Source& source);
/// Replaces `uint3 tid [[thread_position_in_grid]];` outside of functions by its value.
void rewrite_global_positions(Source& source);
/// 1.5h, 1.5bf; numbers without a suffix are of type float.
void rewrite_literals(Source& source);
/// Makes kernels ordinary functions, removes their explicit instantiations, and returns both.
Declarations take_kernels(Source& source);
/// Gives function constants their values: without one 0, or 1 if `ones` has the name.
void set_function_constants(Source& source, const std::map<std::string, std::string>& values,
                            const std::set<std::string>& ones, Declarations& declarations);
/// The names in the functions, classes and constants that the expression of a kernel reaches.
std::set<std::string> reached_names(const Source& source, const std::string& expression);
/// Removes the attributes that clang does not know.
void remove_attributes(Source& source);
/// Storage in threadgroup and constant memory, methods for an address space, array parameters.
void rewrite_address_spaces(Source& source);
/// p.xyz.yz becomes p.yz: a part of a packed vector is a value, to whose parts nothing can be stored.
void join_parts(Source& source);
/// The macros RUNG_METAL_PARTS_OF_2 to 4 of the library as options: the parts of packed vectors that the
/// text names.
std::vector<std::string> packed_parts(const Source& source);
/// Constructors and conversions of vectors, which clang's vector types lack.
void rewrite_vectors(Source& source);

/// The PTX entry of a kernel in C++, which calls it with the positions of threads.
std::string entry_text(const KernelEntry& kernel);
/// The name of the PTX function.
std::string entry_name(const KernelEntry& kernel);

}  // namespace rung::emu::metal
