#pragma once
// Kernels and the types of their parameters, read from the debug information of LLVM IR as text: the one
// description that clang gives of CUDA and Metal alike.

#include <string>
#include <string_view>
#include <vector>

#include "tools/any_kernel/types.hpp"

namespace rung::any_kernel {

struct DebugParameter {
  std::string name;  // empty if the source gives none
  TypePtr type;
};

struct DebugFunction {
  std::string symbol;  // "_Z7softmaxIfLi128EEvPKT_PS0_"
  std::string name;    // "softmax<float, 128>", with its namespaces
  int line = 0;
  bool is_kernel = false;
  std::vector<DebugParameter> parameters;
};

/// The functions that `ir` defines, in order. It needs full debug information.
std::vector<DebugFunction> debug_functions(std::string_view ir);

/// The lines of `ir` that debug_functions() reads, which are all that must be kept.
std::string debug_lines(std::string_view ir);

}  // namespace rung::any_kernel
