#pragma once
// Offsets of grouped products.

#include <cstdint>
#include <optional>
#include <vector>

#include "array.hpp"

namespace rung::python {

/// Offsets in host memory or on the GPU of the operands. Copied to the other side only on request.
class Offsets {
 public:
  /// `function`: the public function that errors name.
  Offsets(const char* function, nb::handle given, nb::handle a, bool a_is_on_gpu, nb::handle stream,
          void* launch);

  bool are_on_gpu() const { return device_.has_value(); }
  std::int64_t count() const;

  /// Throws ValueError unless there is one more offset than matrices of b.
  void check_count(std::int64_t matrices) const;
  /// For offsets in host memory, throws ValueError unless they ascend from 0 to `last`, the extent
  /// that they divide.
  void check(std::int64_t last, const char* counted) const;

  /// The offsets in host memory. If they are on a GPU, waits for the work that computes them.
  const std::int32_t* on_host();
  const std::int32_t* on_gpu();

 private:
  void read(nb::object list);
  void import(nb::object array);

  const char* function_;
  nb::handle a_, stream_;
  void* launch_;
  nb::object list_, kept_;
  std::vector<std::int32_t> host_;
  std::optional<Imported> device_;
};

}  // namespace rung::python
