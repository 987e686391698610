#pragma once
// The glossary, docs/glossary.md. An entry begins with `**word**` at the start of a line.

#include <string>
#include <string_view>
#include <vector>

namespace rung::learn {

struct Entry {
  std::string word;
  std::string text;  // plain text, without Markdown
};

/// All entries, in the order of the file.
const std::vector<Entry>& glossary();

/// The entry of a word, ignoring case and number, or the only one that begins with it: "coalesced".
/// Null if not found.
const Entry* find_word(std::string_view word);

/// The sources cited in the entries as "Guide" and "PTX ISA", with their addresses.
std::string sources_of_words();

}  // namespace rung::learn
