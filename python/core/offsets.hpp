#pragma once
// Where ragged groups begin and end.

#include <cstdint>
#include <optional>
#include <vector>

#include "array.hpp"

namespace rung::python {

/// Offsets of groups: in host memory, or on the GPU of the operands. Copied to the other side only if that is
/// asked for.
class Offsets {
 public:
  /// `function`: whose errors are told.
  Offsets(const char* function, nb::handle given, nb::handle a, bool a_is_on_gpu, nb::handle stream,
          void* launch);

  bool are_on_gpu() const { return device_.has_value(); }
  std::int64_t count() const;

  /// Throws ValueError unless there is one more than there are matrices of b.
  void check_count(std::int64_t matrices) const;
  /// Throws ValueError unless those in host memory ascend from 0 to `last`, the extent that they cut.
  void check(std::int64_t last, const char* of_what) const;

  /// Waits for the work that makes them if they are on a GPU.
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
