#pragma once
// The functions that a CUDA or Metal source defines, found in its text: enough of C++ to know what to
// call.

#include <string>
#include <string_view>
#include <vector>

namespace rung {

struct SourceParameter {
  std::string type;       // "const float*"
  std::string name;       // "A"; empty if it has none
  std::string attribute;  // "buffer(0)" of [[buffer(0)]]; empty if it has none
};

struct SourceFunction {
  std::string name;
  std::string result;  // "void"
  std::vector<SourceParameter> parameters;
  int line = 0;            // of the name, from 1
  bool is_kernel = false;  // __global__, or Metal's kernel
  bool is_device = false;
  bool is_template = false;
};

/// Functions with a body outside of namespaces and classes, in order. What macros write is not
/// seen.
std::vector<SourceFunction> source_functions(std::string_view text);

}  // namespace rung
