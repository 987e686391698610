#pragma once
// The part of a page that steps through the instructions of a warp.

#include <string>
#include <string_view>
#include <vector>

namespace rung {

/// A kernel to step through.
struct Stepped {
  std::string name;         // "gemm/cuda/05_vectors"
  std::string problem;      // what was run: "f32 256x256x512"
  std::string file;         // "05_vectors.cu", as places of the trace call it
  std::string_view source;  // of that file
  std::string trace;        // JSON (vgpu/step_recorder.hpp)
};

/// One stepper, or two side by side.
std::string steppers(const std::vector<Stepped>& kernels);

/// Behind the page's contents, once. It needs nothing but the page.
std::string stepper_script();
std::string_view stepper_style();

}  // namespace rung
