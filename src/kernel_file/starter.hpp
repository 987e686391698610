#pragma once
// Files to start a kernel from: `rung new`.

#include <optional>
#include <string>

#include "core/dtype.hpp"
#include "core/rung.hpp"

namespace rung {

/// A complete file with a plain kernel for an op, which is right and slow: gemm, dot or sum. In
/// CUDA, or in Metal.
std::string plain_starter(const std::string& op, bool metal);

/// A complete file with a rung's kernel for one type, by default the first that the rung has.
/// `file` is the file's name. Throws KernelFileError (kernel_file/signature.hpp) for a rung whose
/// launch takes more than its operands, and for a type that it lacks.
std::string starter_from(const RungInfo& rung, std::optional<Dtype> dtype, const std::string& file);

/// A kernel and the function of that op that launches it, for a class of a CUDA rung that is defined
/// above.
std::string launcher_text(const std::string& op, const std::string& class_name, Dtype dtype,
                          const std::string& kernel);

}  // namespace rung
