#pragma once
// Makes valid documents invalid at a few places: in their structure, then in their text.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace rung::fuzz {

using Json = nlohmann::ordered_json;
using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

/// All values of a document, the whole document first.
inline void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (!json.is_structured()) return;
  for (auto& member : json) collect(member, values);
}

inline Json nested(int levels) {
  Json json = 1;
  for (int i = 0; i < levels; ++i) json = i % 2 == 0 ? Json{{"name", json}} : Json::array({json});
  return json;
}

/// A value of another type, or at a limit of its type.
inline Json odd_value(Random& random) {
  static const std::vector<Json> odd = {nullptr,
                                        true,
                                        false,
                                        0,
                                        -1,
                                        1,
                                        2,
                                        1e308,
                                        -1e308,
                                        5e-324,
                                        1e-30,
                                        1e30,
                                        0.5,
                                        std::int64_t{-9223372036854775807},
                                        std::uint64_t{18446744073709551615u},
                                        1099511627776.0,
                                        "",
                                        "library",
                                        "gemm/cpu/05_vectors",
                                        "../../../x",
                                        "é",
                                        "ééééééé",
                                        "<b>&\"'",
                                        "a\nb",
                                        "\x7f",
                                        "gpu X",
                                        "virtual",
                                        "f32~0/",
                                        std::string(5000, 'x'),
                                        Json::array(),
                                        Json::object(),
                                        Json::array({1, nullptr}),
                                        Json{{"seconds", nullptr}},
                                        nested(20),
                                        nested(200)};
  return odd[below(random, odd.size())];
}

inline void mutate_container(Json& json, Random& random) {
  if (!json.is_structured() || json.empty()) return;
  auto at = json.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(below(random, json.size())));
  const Json member = *at;
  if (below(random, 2) == 0) {
    json.erase(at);
  } else if (json.is_object()) {
    json["é/../" + at.key()] = member;
  } else {
    for (std::size_t copies = 1 + below(random, 4); copies > 0; --copies) json.push_back(member);
  }
}

/// Makes one to four changes to the structure.
inline Json mutate(Json json, Random& random) {
  for (std::size_t changes = 1 + below(random, 4); changes > 0; --changes) {
    std::vector<Json*> values;
    collect(json, values);
    Json& value = *values[below(random, values.size())];
    switch (below(random, 4)) {
      case 0: mutate_container(value, random); break;
      case 1: value = Json(*values[below(random, values.size())]); break;
      default: value = odd_value(random);
    }
  }
  return json;
}

/// Changes the text as well in one case of four: truncates it, or inserts invalid UTF-8, invalid
/// numbers or duplicate members.
inline std::string mutate_text(std::string text, Random& random) {
  if (below(random, 4) != 0 || text.empty()) return text;
  const std::size_t at = below(random, text.size());
  switch (below(random, 5)) {
    case 0: text.resize(at); break;
    case 1: text[at] = static_cast<char>(0x80 + below(random, 0x80)); break;
    case 2: text[at] = static_cast<char>(below(random, 0x80)); break;
    case 3: {
      const char* const numbers[] = {"NaN", "1e999", "-Infinity", "00", "1e-999", "0x10"};
      const std::size_t colon = text.find(':', at);
      if (colon != text.npos) text.insert(colon + 1, numbers[below(random, std::size(numbers))]);
      break;
    }
    default: {
      const std::size_t begin = text.find('"', at), end = text.find(',', at);
      if (begin < end && end != text.npos) text.insert(begin, text.substr(begin, end + 1 - begin));
    }
  }
  return text;
}

}  // namespace rung::fuzz
