#pragma once
// What the kernel of an exercise computes, from which parameters, and whether it did.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learn/exercise.hpp"
#include "vgpu/launch.hpp"

namespace rung::learn {

/// As the exercise's launch() returns it: exercises/learn.cuh.
struct LaunchShape {
  vgpu::Dim3 grid, block;
  unsigned shared_bytes, workspace_floats, a_box_rows, b_box_rows;
  vgpu::Dim3 cluster;
};

/// A form of kernel: the statement `kernel:` of an exercise.
struct KernelForm {
  const char* key;
  const char* name;        // of the kernel
  const char* parameters;  // their types, in C++
  bool is_vector;          // sizes are n alone
};

/// Throws std::invalid_argument if there is none of that key.
const KernelForm& kernel_form(std::string_view key);

struct WrongResult {
  std::string text;  // a sentence
  bool is_stored;    // rather than missing
};

/// The operands of one size in the virtual GPU's memory. Elements are small integers, so that every
/// order of a sum gives the same bits; those of dot_cancelling cancel in sums of rounded products.
class Problem {
 public:
  Problem(const KernelForm& form, const Size& size, const LaunchShape& shape,
          vgpu::DeviceMemory& memory);

  /// In the order of the form. Throws std::invalid_argument for boxes that TMA does not take.
  std::vector<std::uint64_t> parameters() const;

  /// The address of the results.
  std::uint64_t result() const { return result_; }

  /// The first result that is wrong; empty if none is.
  std::optional<WrongResult> error() const;

  /// "allocation 2 of 3828 bytes + 3832" in the message of a hazard becomes "a[958], where a has
  /// 33 x 29 = 957 elements".
  std::string with_array_names(std::string message) const;

 private:
  template <class T>
  std::uint64_t array(const std::vector<T>& values);
  /// The same for a parameter: `elements` is how their number comes about.
  template <class T>
  std::uint64_t array(const char* name, std::string elements, const std::vector<T>& values);
  void add_products();
  void add_gemm();
  void add_dot();
  std::uint64_t tensor_map(std::uint64_t data, int rows, unsigned box_rows);
  void add_workspace();

  struct Array {
    const char* name;
    std::string elements;  // "33 x 29 = 957"
    std::uint64_t address;
    std::size_t element_bytes;
  };

  const KernelForm& form_;
  Size size_;
  LaunchShape shape_;
  vgpu::DeviceMemory& memory_;
  std::vector<std::uint64_t> parameters_;
  std::vector<Array> arrays_;
  std::uint64_t result_ = 0;
  std::size_t stored_ = 0;        // results
  std::vector<double> expected_;  // if one alone, the sum of all that are stored
  double tolerance_ = 0;
};

}  // namespace rung::learn
