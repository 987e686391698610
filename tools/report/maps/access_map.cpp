#include "tools/report/maps/access_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

namespace rung {
namespace {

constexpr std::uint64_t word_bytes = 4;
constexpr std::uint64_t words_in_line = 32;
constexpr std::uint64_t words_in_sector = 8;
constexpr double cell = 14;
constexpr double left = 62;
constexpr double top = 34;
constexpr std::size_t max_lines = 40;

using Lanes = std::vector<int>;

/// The lanes that access each word, by the word's index in memory.
std::map<std::uint64_t, Lanes> words_of(const vgpu::WarpAccess& access) {
  std::map<std::uint64_t, Lanes> words;
  for (int lane = 0; lane < 32; ++lane) {
    if ((access.lanes >> lane & 1) == 0) continue;
    const std::uint64_t begin = access.address[static_cast<std::size_t>(lane)];
    for (std::uint64_t word = begin / word_bytes; word <= (begin + access.bytes - 1) / word_bytes;
         ++word) {
      words[word].push_back(lane);
    }
  }
  return words;
}

/// "5", "0-15", "0, 2, 4".
std::string ranges(const Lanes& lanes) {
  std::string text;
  for (std::size_t i = 0; i < lanes.size();) {
    std::size_t last = i;
    while (last + 1 < lanes.size() && lanes[last + 1] == lanes[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text += last == i ? fmt::format("{}", lanes[i]) : fmt::format("{}–{}", lanes[i], lanes[last]);
    i = last + 1;
  }
  return text;
}

class Map {
 public:
  Map(const vgpu::WarpAccess& access, const std::string& id, const std::string& where)
      : access_(access),
        words_(words_of(access)),
        base_(words_.empty() ? 0 : words_.begin()->first / words_in_line),
        needed_((words_.size() + words_in_line - 1) / words_in_line) {
    for (const auto& entry : words_) {
      lines_.insert(entry.first / words_in_line);
      ++words_of_bank_[entry.first % words_in_line];
    }
    const double rows = static_cast<double>(std::min(lines_.size(), max_lines));
    picture_ = svg::Picture(id, left + words_in_line * cell + 4, top + 8 + rows * cell,
                            title(where), description());
  }

  svg::Picture draw() {
    picture_.text({4, 14}, access_.shared ? "bank" : "word", "soft");
    picture_.text({4, 28}, "from byte", "soft small");
    for (std::uint64_t column = 0; column < words_in_line; ++column) {
      if (column % 4 == 0) {
        picture_.text({x_of(column) + cell / 2, 28}, fmt::format("{}", column),
                      "soft small middle");
      }
    }
    std::size_t row = 0;
    for (const std::uint64_t line : lines_) {
      if (row == max_lines) break;
      draw_line(line, top + static_cast<double>(row++) * cell);
    }
    return std::move(picture_);
  }

  std::string description() const {
    return fmt::format("{} lanes of {} bytes, {} different words in {}: {}.", lanes(),
                       access_.bytes, words_.size(),
                       count(lines_.size(), access_.shared ? "row" : "line",
                             access_.shared ? " of 32 banks" : " of 128 bytes"),
                       units());
  }

  DataTable table() const {
    DataTable table{{"lane", "byte", access_.shared ? "bank" : "sector"}, {}};
    for (int lane = 0; lane < 32; ++lane) {
      if ((access_.lanes >> lane & 1) == 0) continue;
      const std::uint64_t word = access_.address[static_cast<std::size_t>(lane)] / word_bytes;
      const std::uint64_t byte = offset(word / words_in_line) + word % words_in_line * word_bytes;
      const std::uint64_t group =
          access_.shared ? word % words_in_line : byte / (words_in_sector * word_bytes);
      table.rows.push_back(
          {fmt::format("{}", lane), fmt::format("{}", byte), fmt::format("{}", group)});
    }
    return table;
  }

 private:
  int lanes() const { return std::popcount(access_.lanes); }
  static std::string count(std::size_t number, const char* what, const char* which) {
    return fmt::format("{} {}{}{}", number, what, number == 1 ? "" : "s", which);
  }
  std::string units() const {
    const auto number = static_cast<std::size_t>(access_.units);
    return access_.shared
               ? fmt::format("{} pass{} through the banks", number, number == 1 ? "" : "es")
               : count(number, "sector", " of 32 bytes");
  }
  std::string title(const std::string& where) const {
    return fmt::format("{}: {}", where, units());
  }
  static double x_of(std::uint64_t column) { return left + static_cast<double>(column) * cell; }
  /// The offset of a line's first byte: in shared memory, its address; in global memory, its
  /// distance from the first line.
  std::uint64_t offset(std::uint64_t line) const {
    return (access_.shared ? line : line - base_) * words_in_line * word_bytes;
  }

  void draw_line(std::uint64_t line, double y) {
    picture_.text({left - 6, y + cell - 3.5}, fmt::format("{}", offset(line)), "soft small end");
    const auto lanes_at = [&](std::uint64_t column) -> const Lanes* {
      const auto found = words_.find(line * words_in_line + column);
      return column < words_in_line && found != words_.end() ? &found->second : nullptr;
    };
    for (std::uint64_t column = 0; column < words_in_line;) {
      const Lanes* lanes = lanes_at(column);
      std::uint64_t end = column + 1;
      if (lanes != nullptr) {
        for (const Lanes* next; (next = lanes_at(end)) != nullptr && *next == *lanes;) ++end;
        draw_words(*lanes, column, end, y);
      } else if (!access_.shared && sector_is_touched(line, column)) {
        while (end % words_in_sector != 0 && lanes_at(end) == nullptr) ++end;
        picture_.rect(box(column, end, y), "empty", "fetched, but not requested");
      }
      column = end;
    }
  }

  static svg::Box box(std::uint64_t begin, std::uint64_t end, double y) {
    return {x_of(begin), y, x_of(end) - x_of(begin), cell};
  }

  void draw_words(const Lanes& lanes, std::uint64_t begin, std::uint64_t end, double y) {
    const bool contended = access_.shared && words_of_bank_[begin] > needed_;
    const std::string place =
        end == begin + 1 ? fmt::format(" {}", begin) : fmt::format("s {}–{}", begin, end - 1);
    const std::string hover = fmt::format("{}{}: lane{} {}{}", access_.shared ? "bank" : "word",
                                          place, lanes.size() == 1 ? "" : "s", ranges(lanes),
                                          contended ? "; this bank has a conflict" : "");
    const svg::Box where = box(begin, end, y);
    picture_.rect(where, contended ? "tint orange" : "tint blue", hover);
    const std::string label =
        lanes.size() == 1 ? fmt::format("{}", lanes[0]) : fmt::format("{}×", lanes.size());
    picture_.text({where.x + where.width / 2, y + cell - 4}, label, "tiny middle");
  }

  bool sector_is_touched(std::uint64_t line, std::uint64_t column) const {
    const std::uint64_t first = line * words_in_line + column / words_in_sector * words_in_sector;
    const auto found = words_.lower_bound(first);
    return found != words_.end() && found->first < first + words_in_sector;
  }

  const vgpu::WarpAccess& access_;
  std::map<std::uint64_t, Lanes> words_;
  std::uint64_t base_;
  std::set<std::uint64_t> lines_;
  std::array<std::size_t, words_in_line> words_of_bank_{};
  std::size_t needed_;  // per bank, if the words were distributed evenly
  svg::Picture picture_{"", 0, 0, "", ""};
};

}  // namespace

Figure access_map(std::string id, const vgpu::WarpAccess& access, const std::string& where) {
  Map map(access, id, where);
  std::string note =
      map.description() +
      (access.shared ? " Numbers are lanes, n× is n of them; banks with conflicts are "
                       "orange."
                     : " Numbers are lanes, n× is n of them; the rest of their sectors is "
                       "pale.");
  return {std::move(id), where, std::move(note), map.draw(), map.table()};
}

}  // namespace rung
