#pragma once
// The passes that turn Metal into C++ that clang accepts. Each rewrites the text of tokens.

#include <map>
#include <optional>
#include <string>
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
};

/// An error with its line for exceptions, which clang would accept here; otherwise empty.
std::string forbidden_words(const Source& source);
/// Removes `#pragma unroll(N)`: the preprocessor does not expand macros there.
void remove_unroll_counts(Source& source);
/// Replaces `uint3 tid [[thread_position_in_grid]];` outside of functions by its value.
void rewrite_global_positions(Source& source);
/// 1.5h, 1.5bf; numbers without a suffix are of type float.
void rewrite_literals(Source& source);
/// Makes kernels ordinary functions, removes their explicit instantiations, and returns both.
Declarations take_kernels(Source& source);
/// Gives function constants their values.
void set_function_constants(Source& source, const std::map<std::string, std::string>& values,
                            Declarations& declarations);
/// Removes the attributes that clang does not know.
void remove_attributes(Source& source);
/// Storage in threadgroup and constant memory, methods for an address space, array parameters.
void rewrite_address_spaces(Source& source);
/// Constructors and conversions of vectors, which clang's vector types lack.
void rewrite_vectors(Source& source);

/// The PTX entry of a kernel in C++, which calls it with the positions of threads.
std::string entry_text(const KernelEntry& kernel);
/// The name of the PTX function.
std::string entry_name(const KernelEntry& kernel);

}  // namespace rung::emu::metal
