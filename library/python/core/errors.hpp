#pragma once
// Translates the library's errors to Python exceptions with its one-line messages.

#include <stdexcept>
#include <string>

#include "rung/rung.h"

namespace rung::python {

/// rung.UnavailableError
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// rung.DeviceError
struct DeviceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throw ValueError or TypeError with the message "rung: MESSAGE".
[[noreturn]] void fail_value(const std::string& message);
[[noreturn]] void fail_type(const std::string& message);

/// Throws unless status is RUNG_OK. `message` is rung_last_error() of the calling thread.
void check(rung_status status, const char* message);

}  // namespace rung::python
