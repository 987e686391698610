#include "emu/compile/option_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "emu/compile/nvcc_options.hpp"
#include "emu/compile/source/characters.hpp"

namespace rung::emu {
namespace {

/// The words of a file of options. Blanks in quotes are part of a word; the quotes are not.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false, in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!in_quotes && is_space(text[i])) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (text[i] == '"') {
      in_quotes = !in_quotes;
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '"') ++i;
    words.back() += text[i];
  }
  return words;
}

}  // namespace

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t stop = std::min(text.find_first_of(separators, at), text.size());
    if (stop > at) parts.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return parts;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != ',') parts.back() += text[i];
      parts.back() += text[++i];
      continue;
    }
    if (text[i] == '"') in_quotes = !in_quotes;
    if (text[i] == ',' && !in_quotes) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

std::vector<std::string> with_option_files(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_named = words[i] == "-optf" || words[i] == "--options-file";
    if (!is_named && !words[i].starts_with('@')) {
      all.push_back(words[i]);
      continue;
    }
    if (is_named && i + 1 == words.size()) {
      throw NvccUsageError(words[i] + ": expected the name of a file");
    }
    const std::string name = is_named ? words[++i] : words[i].substr(1);
    std::ifstream file(name, std::ios::binary);
    if (!file) throw NvccUsageError(fmt::format("{}: not a readable file", name));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::string& word : words_of(text)) all.push_back(std::move(word));
  }
  return all;
}

}  // namespace rung::emu
