#pragma once
// The glossary, docs/glossary.md: an entry begins with `**word**` at the start of a line.

#include <string>
#include <string_view>
#include <vector>

namespace rung::learn {

struct Entry {
  std::string word;
  std::string text;  // as plain text, without Markdown's marks and links' addresses
};

/// In the order of the file.
const std::vector<Entry>& glossary();

/// The entry of a word, whatever its case, singular or plural, or the only one that begins with it:
/// "coalesced". Null if there is none.
const Entry* find_word(std::string_view word);

/// What the entries call "Guide" and "PTX ISA", with their addresses.
std::string sources_of_words();

}  // namespace rung::learn
