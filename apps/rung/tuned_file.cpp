#include "tuned_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "command.hpp"
#include "core/tuned_path.hpp"
#include "tools/report/output_file.hpp"

namespace rung {
std::string results_path(const std::string& named, const std::string& of_cache) {
  if (named.empty() && of_cache.empty()) {
    throw UsageError("-o: required if neither XDG_CACHE_HOME nor HOME is set");
  }
  if (named.empty()) {
    std::error_code ignored;  // OutputFile reports what cannot be written, and why
    std::filesystem::create_directories(std::filesystem::path(of_cache).parent_path(), ignored);
  }
  const std::string& path = named.empty() ? of_cache : named;
  try {
    if (OutputFile(path).is_stdout()) throw std::runtime_error("'-' is not a file");
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("-o: {}", error.what()));
  }
  return path;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TunedFile::TunedFile(const std::string& path, const std::string& device)
    : path_(results_path(path, tuned_path(device))), device_(device) {
  try {
    cuda::parse_tuned(read());
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("-o: {}", error.what()));
  }
}

void TunedFile::add(const cuda::TunedShape& tuned) const {
  OutputFile(path_).write(cuda::merge_tuned(read(), tuned));
}

std::string TunedFile::read() const {
  const std::string text = text_of(path_);
  if (!text.empty()) return text;
  return fmt::format("# Found by `rung tune` on {}: rung, dtype, m, n, k, tile, splits.\n",
                     device_);
}

}  // namespace rung
