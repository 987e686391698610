#pragma once
// Files written like a rung: a kernel and a declaration such as RUNG_CUDA_GEMM(04_thread_tile, …),
// as in kernels/. Converts them to a plain function or kernel, which Rung can call.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/element_types.hpp"

namespace rung {

/// The declaration of a rung.
struct RungForm {
  std::string macro;                   // "RUNG_CUDA_GEMM"
  std::vector<std::string> arguments;  // "04_thread_tile", "ThreadTile", "f32", …

  bool is_metal() const { return macro.starts_with("RUNG_METAL_"); }
  bool is_gemm() const { return macro.find("_GEMM") != std::string::npos; }
  /// True if the number and the name are two arguments, as in all Metal rungs and in CUDA files
  /// written for earlier versions: RUNG_CUDA_GEMM(09, async_copies, AsyncCopies, f32, …)
  bool has_apart_number() const {
    return is_metal() || arguments.at(0).find_first_not_of("0123456789") == std::string::npos;
  }
  /// "AsyncCopies" for RUNG_CUDA_GEMM(09_async_copies, AsyncCopies, f32, …)
  const std::string& class_name() const { return arguments.at(has_apart_number() ? 2 : 1); }
};

/// Empty if the text has no such declaration.
std::optional<RungForm> read_rung_form(std::string_view text);

/// The reason why a user's file cannot have this form, in a few words; empty if it can.
std::string why_not(const RungForm& form);

/// A Metal rung as a plain kernel named `kernel`: template types substituted, and its RUNG_METAL_…
/// declaration replaced by constants (metal_kernel.hpp). Line numbers are preserved. Precondition:
/// why_not() is empty.
std::string plain_metal(std::string_view text, const RungForm& form, const std::string& kernel,
                        Dtype dtype);

/// The data types declared by a rung; the first is the default.
std::vector<Dtype> dtypes_of(const RungForm& form);

}  // namespace rung
