#include "emu/compile/link/source_overlay.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "core/c_literal.hpp"
#include "emu/compile/link/device_code.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/source/missing_keywords.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu {

std::vector<std::string> SourceOverlay::write() const {
  if (texts_.empty()) return {};
  std::string roots;
  int number = 0;
  for (const auto& [name, text] : texts_) {
    const std::string copy = fmt::format("{}.accepted.{}.cu", object_.string(), number++);
    std::ofstream(copy, std::ios::binary) << text;
    roots += fmt::format("{}{{'name': {}, 'type': 'file', 'external-contents': {}}}",
                         roots.empty() ? "" : ", ", c_literal(name), c_literal(copy));
  }
  const std::string overlay = object_.string() + ".overlay.yaml";
  std::ofstream(overlay) << fmt::format(
      "{{'version': 0, 'use-external-names': false, 'roots': [{}]}}\n", roots);
  return {"-ivfsoverlay", overlay};
}

/// Returns false if there is nothing to insert.
bool SourceOverlay::insert_keywords(const std::string& errors) {
  std::map<std::string, std::vector<MissingKeyword>> by_file;
  for (MissingKeyword& missing : missing_keywords(errors)) {
    const auto path = std::filesystem::absolute(missing.file).lexically_normal();
    by_file[path.string()].push_back(std::move(missing));
  }
  bool inserted = false;
  for (const auto& [name, missing] : by_file) {
    const auto known = texts_.find(name);
    const std::string text = known != texts_.end() ? known->second : read_file(name);
    const std::string complete = with_keywords(text, missing);
    if (complete == text) continue;
    replace(name, complete);
    inserted = true;
  }
  return inserted;
}

void SourceOverlay::compile(const std::vector<std::string>& command) {
  constexpr int most_runs = 50;  // a program's errors come 20 at a time
  const std::string messages = object_.string() + ".messages";
  for (int runs = 1;; ++runs) {
    std::vector<std::string> whole = command;
    for (const std::string& option : write()) whole.push_back(option);
    if (isatty(STDERR_FILENO) != 0) whole.emplace_back("-fcolor-diagnostics");
    const ExitStatus status = run(whole, {}, {}, messages);
    if (const int signal = HeldSignals::received(); signal != 0) throw Interrupted{signal};
    const std::string text = read_file(messages);
    const bool failed = status.code != 0 && status.signal == 0;
    if (failed && runs < most_runs && insert_keywords(text)) continue;
    std::fwrite(text.data(), 1, text.size(), stderr);
    check_status(command, status);
    return;
  }
}

}  // namespace rung::emu
