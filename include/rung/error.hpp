#pragma once
// Error codes and exceptions of the library.

#include <stdexcept>
#include <string>

#include "rung/export.hpp"

namespace rung {

/// The values equal those of rung_status in rung.h.
enum class Status : int {
  ok = 0,
  invalid_argument = 1,
  out_of_memory = 2,
  internal_error = 3,
  unavailable = 4,   // no GPU, no driver, or no kernel for the GPU
  device_error = 5,  // the GPU's driver reported an error
};

/// what() is one line: the error, the value, and the allowed values. A call that throws has written
/// no output. Failed allocations throw std::bad_alloc instead.
class RUNG_API Error : public std::runtime_error {
 public:
  Error(Status code, const std::string& message) : std::runtime_error(message), code_(code) {}

  Status code() const noexcept { return code_; }

 private:
  Status code_;
};

}  // namespace rung
