#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "report/table.hpp"

namespace rung {

Progress::Progress() {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  enabled_ = isatty(STDERR_FILENO) == 1 && !is_dumb;
}

void Progress::show(const std::string& text) {
  if (!enabled_) return;
  fmt::print(stderr, "\r\033[K{}", cut(text, text_width - 1));
  shown_ = true;
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace rung
