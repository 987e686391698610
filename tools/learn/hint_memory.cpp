#include "tools/learn/hint_memory.hpp"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <string>
#include <system_error>

#include "core/cache_folder.hpp"

namespace rung::learn {

namespace fs = std::filesystem;

HintMemory::HintMemory(const fs::path& file) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file, ignored), ignored);
  if (const auto cache = cache_folder()) {
    memory_ = *cache / "learn" / fmt::format("{:016x}.txt", std::hash<std::string>()(whole));
  }
}

std::size_t HintMemory::told(std::string_view finding) const {
  if (!memory_) return 0;
  std::ifstream stream(*memory_);
  std::string last;
  std::size_t told = 0;
  return stream >> last >> told && last == finding ? told : 0;
}

void HintMemory::remember(std::string_view finding, std::size_t told) const {
  if (!memory_) return;
  std::error_code ignored;
  fs::create_directories(memory_->parent_path(), ignored);
  std::ofstream(*memory_) << finding << ' ' << told << '\n';
}

void HintMemory::forget() const {
  std::error_code ignored;
  if (memory_) fs::remove(*memory_, ignored);
}

}  // namespace rung::learn
