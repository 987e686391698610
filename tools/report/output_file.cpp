#include "tools/report/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rung {
namespace {

// Returns 0 or errno.
int write_all(int descriptor, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (is_stdout()) return;
  struct stat status = {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (exists && access(path_.c_str(), W_OK) != 0) fail(errno);
  if (exists && !S_ISREG(status.st_mode)) return;  // a device or a pipe
  draft_ = path_ + "." + std::to_string(getpid()) + ".part";
  close(open_draft());
  unlink(draft_.c_str());
}

void OutputFile::write(const std::string& text) const {
  const int descriptor = is_stdout() ? STDOUT_FILENO : open_draft();
  int error = write_all(descriptor, text);
  if (!is_stdout() && close(descriptor) != 0 && error == 0) error = errno;
  if (!draft_.empty()) {
    if (error == 0 && std::rename(draft_.c_str(), path_.c_str()) != 0) error = errno;
    if (error != 0) unlink(draft_.c_str());
  }
  if (error != 0) fail(error);
}

int OutputFile::open_draft() const {
  const std::string& path = draft_.empty() ? path_ : draft_;
  const int flags = O_WRONLY | O_CLOEXEC | (draft_.empty() ? 0 : O_CREAT | O_EXCL);
  const int descriptor = open(path.c_str(), flags, 0666);
  if (descriptor < 0) fail(errno);
  return descriptor;
}

void OutputFile::fail(int error) const {
  throw std::runtime_error("'" + path_ +
                           "' cannot be written: " + std::generic_category().message(error));
}

}  // namespace rung
