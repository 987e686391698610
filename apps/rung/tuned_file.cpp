#include "tuned_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "command.hpp"
#include "core/tuned_path.hpp"
#include "report/output_file.hpp"

namespace rung {
namespace {

std::string cache_file(const std::string& device) {
  const std::string path = tuned_path(device);
  if (path.empty()) throw UsageError("-o: required if neither XDG_CACHE_HOME nor HOME is set");
  std::error_code ignored;  // OutputFile reports what cannot be written, and why
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  return path;
}

}  // namespace

TunedFile::TunedFile(const std::string& path, const std::string& device)
    : path_(path.empty() ? cache_file(device) : path), device_(device) {
  try {
    if (OutputFile(path_).is_stdout()) throw std::runtime_error("'-' is not a file");
    cuda::parse_tuned(read());
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("-o: {}", error.what()));
  }
}

void TunedFile::add(const cuda::TunedShape& tuned) const {
  OutputFile(path_).write(cuda::merge_tuned(read(), tuned));
}

std::string TunedFile::read() const {
  std::ifstream file(path_);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!text.empty()) return text;
  return fmt::format("# Found by `rung tune` on {}: rung, dtype, m, n, k, tile, splits.\n",
                     device_);
}

}  // namespace rung
