#pragma once
// Files in the form of a rung: a kernel, and a line such as RUNG_CUDA_GEMM(04, thread_tile, …), as in
// kernels/. Rung calls a plain function or kernel, which this makes of them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace rung {

/// The line that declares a rung.
struct RungForm {
  std::string macro;                   // "RUNG_CUDA_GEMM"
  std::vector<std::string> arguments;  // "04", "thread_tile", "ThreadTile", "f32", …

  bool is_metal() const { return macro.starts_with("RUNG_METAL_"); }
  bool is_gemm() const { return macro.find("_GEMM") != std::string::npos; }
  /// "AsyncCopies" of RUNG_CUDA_GEMM(09, async_copies, AsyncCopies, f32, …)
  const std::string& class_name() const { return arguments.at(2); }
};

/// Empty if the text has no such line.
std::optional<RungForm> read_rung_form(std::string_view text);

/// Why a file of one's own cannot have this form, in a few words; empty if it can.
std::string why_not(const RungForm& form);

/// A Metal rung as a plain kernel of that name: its types chosen, its line of RUNG_METAL_… as the
/// constants of a file (metal_kernel.hpp). Lines stay where they are. Precondition: why_not() is
/// empty.
std::string plain_metal(std::string_view text, const RungForm& form, const std::string& kernel,
                        Dtype dtype);

/// The types that a rung of this form has, the first by default.
std::vector<Dtype> dtypes_of(const RungForm& form);

}  // namespace rung
