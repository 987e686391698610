#pragma once
// Finds the functions defined in a CUDA or Metal source. Parses only as much C++ as is needed to
// find the function to call.

#include <string>
#include <string_view>
#include <vector>

namespace rung {

struct SourceParameter {
  std::string type;       // "const float*"
  std::string name;       // "A"; empty if unnamed
  std::string attribute;  // "buffer(0)" for [[buffer(0)]]; empty if none
};

struct SourceFunction {
  std::string name;
  std::string result;  // "void"
  std::vector<SourceParameter> parameters;
  int line = 0;            // of the name, from 1
  bool is_kernel = false;  // __global__, or kernel in Metal
  bool is_device = false;
  bool is_template = false;
};

/// Function definitions outside namespaces and classes, in order. Macros are not expanded.
std::vector<SourceFunction> source_functions(std::string_view text);

}  // namespace rung
