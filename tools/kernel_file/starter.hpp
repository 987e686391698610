#pragma once
// Templates for new kernels: `rung new`.

#include <optional>
#include <string>

#include "core/element_types.hpp"
#include "core/rung.hpp"

namespace rung {

/// A complete file with a simple kernel for an operation (gemm, dot or sum) in CUDA or Metal. It is
/// correct, but slow.
std::string plain_starter(const std::string& op, bool metal);

/// A complete file with a rung's kernel for one data type; by default, the first that the rung
/// supports. `file` is the file's name. Throws KernelFileError (kernel_file/signature.hpp) if the
/// rung's launch has arguments other than its operands, or it does not support the type.
std::string starter_from(const RungInfo& rung, std::optional<Dtype> dtype, const std::string& file);

/// A kernel, and the function that launches it, for the class of a CUDA rung. The class is defined
/// earlier in the file.
std::string launcher_text(const std::string& op, const std::string& class_name, Dtype dtype,
                          const std::string& kernel);

}  // namespace rung
