#pragma once
// Nothing that a command writes to standard output is lost in silence.

#include <stdexcept>
#include <system_error>

namespace rung {

/// Standard output is full, closed or gone; one line with the system's reason.
struct OutputError : std::runtime_error {
  explicit OutputError(std::error_code reason);
};

/// Opens /dev/null instead of standard streams that the caller closed, so that writing to standard output
/// still fails. Otherwise the next file to be opened would become standard output and receive what is
/// printed. Call before opening any file.
void reserve_standard_streams();

/// Writes what is buffered. Throws OutputError if that fails, or if any earlier write has failed.
void flush_output();

}  // namespace rung
