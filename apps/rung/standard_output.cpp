#include "standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace rung {

OutputError::OutputError(std::error_code reason)
    : std::runtime_error("standard output cannot be written: " + reason.message()) {}

void reserve_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free descriptor, so this one. Opened the wrong way round, every use of it fails.
    open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw OutputError({errno != 0 ? errno : EIO, std::generic_category()});
}

}  // namespace rung
