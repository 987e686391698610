#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "tools/report/numbers.hpp"
#include "tools/report/table.hpp"

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

void Progress::show(const std::string& text, const std::string& work, double done) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (work != work_) {
    work_ = work;
    begin_ = now;
  }
  const std::chrono::duration<double> so_far = now - begin_;
  // On a narrow terminal, the text is cut, not the time.
  const std::string rest = "  " + format_progress(done, so_far.count());
  show(cut(text, text_width - 1 - rest.size()) + rest);
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace rung
