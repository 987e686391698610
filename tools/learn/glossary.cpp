#include "tools/learn/glossary.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "tools/learn/exercise.hpp"
#include "tools/learn/text.hpp"

namespace rung::learn {
namespace {

/// Removes Markdown: "[text](address)" becomes "text", and asterisks and backquotes are deleted.
std::string plain(std::string_view line) {
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))"), mark(R"([*`])");
  const std::string without_links = std::regex_replace(std::string(line), link, "$1");
  return std::regex_replace(without_links, mark, "");
}

std::vector<Entry> read_entries(std::string_view text) {
  constexpr std::string_view mark = "**";
  std::vector<Entry> entries;
  bool is_in_entry = false;
  for (const std::string_view line : lines(text)) {
    if (line.starts_with(mark)) {
      const std::size_t end = line.find(mark, mark.size());
      entries.push_back({std::string(line.substr(mark.size(), end - mark.size())), plain(line)});
      is_in_entry = true;
    } else if (line.empty() || line.starts_with('#')) {
      is_in_entry = false;
    } else if (is_in_entry) {
      entries.back().text += " " + plain(line);
    }
  }
  return entries;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

const std::vector<Entry>& glossary() {
  static const std::vector<Entry> entries = read_entries(embedded_file("docs/glossary.md"));
  return entries;
}

const Entry* find_word(std::string_view word) {
  const std::string wanted = lower(word);
  const auto found = std::find_if(glossary().begin(), glossary().end(), [&](const Entry& entry) {
    const std::string known = lower(entry.word);
    return wanted == known || wanted == known + "s" || wanted + "s" == known;
  });
  if (found != glossary().end()) return &*found;
  const auto begins = [&](const Entry& entry) {
    return lower(entry.word).starts_with(wanted + " ");
  };
  const auto first = std::ranges::find_if(glossary(), begins);
  const bool is_only_one = std::ranges::count_if(glossary(), begins) == 1;
  return is_only_one ? &*first : nullptr;
}

std::string sources_of_words() {
  return "Guide: NVIDIA's CUDA C++ Programming Guide, "
         "docs.nvidia.com/cuda/cuda-c-programming-guide; "
         "PTX ISA: docs.nvidia.com/cuda/parallel-thread-execution";
}

}  // namespace rung::learn
