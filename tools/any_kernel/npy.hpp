#pragma once
// Arrays in files of NumPy's format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/any_kernel/types.hpp"

namespace rung::any_kernel {

struct NpyArray {
  std::string type;                 // as in the file: "<f4"
  std::size_t item_bytes = 0;       // per element
  std::vector<std::int64_t> shape;  // empty for a single number
  std::vector<std::byte> bytes;     // row-major

  std::size_t count() const { return item_bytes == 0 ? 0 : bytes.size() / item_bytes; }
  /// The type of the elements; nullopt if it is not one of Scalar, such as "|V12".
  std::optional<Scalar> scalar() const;
};

/// Throws ArgumentError with the path and the reason.
NpyArray read_npy(const std::filesystem::path& path);

/// The file's contents. bf16, which NumPy lacks, is written as float.
std::string npy_text(Scalar scalar, const std::vector<std::int64_t>& shape,
                     const std::vector<std::byte>& bytes);

}  // namespace rung::any_kernel
