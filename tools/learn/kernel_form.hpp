#pragma once
// The kernel of an exercise: its operation and parameters, and verification of its results.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/learn/exercise.hpp"
#include "vgpu/launch.hpp"

namespace rung::learn {

/// The value returned by the exercise's launch(), see course/learn.cuh.
struct LaunchShape {
  vgpu::Dim3 grid, block;
  unsigned shared_bytes, workspace_floats, a_box_rows, b_box_rows;
  vgpu::Dim3 cluster;
};

/// A form of kernel: the statement `kernel:` of an exercise.
struct KernelForm {
  const char* key;
  const char* name;        // of the kernel
  const char* parameters;  // C++ types of the parameters
  bool is_vector;          // sizes have only n

  /// True if B is stored as n rows of k elements, as tensor cores use it.
  bool is_b_transposed() const;
};

/// Throws std::invalid_argument for an unknown key.
const KernelForm& kernel_form(std::string_view key);

struct WrongResult {
  std::string text;       // a sentence
  bool is_stored;         // false if the result is missing
  std::size_t index = 0;  // of the first one; 0 for a sum
};

/// Operands in place of the usual ones, which remain if these are empty, and what the results hold
/// before the kernel runs. A shorter operand continues with zeros.
struct Probe {
  std::vector<float> a, b;  // for vectors, x and y
  float initial = 0;
};

/// An element of an array that a message names.
struct ElementPlace {
  std::string array;  // "a"
  std::int64_t element = 0;
  std::size_t elements = 0;  // of the array
};

/// The operands of one size in the virtual GPU's memory. Elements are small integers and
/// halves, so that sums are exact in any order; those of dot_cancelling cancel in sums of rounded products.
class Problem {
 public:
  Problem(const KernelForm& form, const Size& size, const LaunchShape& shape,
          vgpu::DeviceMemory& memory, const Probe* probe = nullptr);

  /// The kernel's arguments, in the order of the form. Throws std::invalid_argument if TMA does not
  /// support a box.
  std::vector<std::uint64_t> parameters() const;

  /// The address of the results.
  std::uint64_t result() const { return result_; }
  /// The results in memory: all elements of C, or all sums.
  std::vector<float> results() const;

  /// The first wrong result; empty if all are correct.
  std::optional<WrongResult> error() const;

  /// Replaces addresses in the message of a hazard: "allocation 2 of 3828 bytes + 3832" becomes
  /// "a[958], where a has 33 x 29 = 957 elements".
  std::string with_array_names(std::string message) const;
  /// The element that a hazard's address means; empty if it is in no array.
  std::optional<ElementPlace> element(const std::string& address) const;

 private:
  template <class T>
  std::uint64_t array(const std::vector<T>& values);
  /// Overload for a parameter of the kernel. `elements`: the computation of their number.
  template <class T>
  std::uint64_t array(const char* name, std::string elements, const std::vector<T>& values);
  float initial(float usual) const { return probe_ == nullptr ? usual : probe_->initial; }
  void replace_operands(std::vector<float>& a, std::vector<float>& b) const;
  void add_products();
  void add_gemm();
  void add_dot();
  std::uint64_t tensor_map(std::uint64_t data, int rows, unsigned box_rows);
  void add_workspace();

  struct Array {
    const char* name;
    std::string elements;  // "33 x 29 = 957"
    std::uint64_t address;
    std::size_t element_bytes, bytes;
  };

  const KernelForm& form_;
  Size size_;
  LaunchShape shape_;
  vgpu::DeviceMemory& memory_;
  const Probe* probe_;
  std::vector<std::uint64_t> parameters_;
  std::vector<Array> arrays_;
  std::uint64_t result_ = 0;
  std::size_t stored_ = 0;        // number of results
  std::vector<double> expected_;  // if single, the sum of all results
  double tolerance_ = 0;
};

}  // namespace rung::learn
