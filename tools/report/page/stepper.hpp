#pragma once
// The part of a page that steps through the instructions of a warp.

#include <string>
#include <string_view>
#include <vector>

namespace rung {

/// A kernel to step through.
struct Stepped {
  std::string name;         // "gemm/cuda/05_vectors"
  std::string problem;      // the problem that was run: "f32 256x256x512"
  std::string file;         // "05_vectors.cu", as named in the trace
  std::string_view source;  // contents of the file
  std::string trace;        // JSON (vgpu/step_recorder.hpp)
};

/// One stepper, or two side by side.
std::string steppers(const std::vector<Stepped>& kernels);

/// To be placed once, after the page's contents. It has no dependencies outside the page.
std::string stepper_script();
std::string_view stepper_style();

}  // namespace rung
