#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "backends/cuda/pack/without_lines.hpp"

// Structures from the ELF specification; <elf.h> is not available on every system.

namespace rung::cuda {
namespace {

constexpr std::uint32_t no_bits = 8;       // SHT_NOBITS: a section without bytes in the file
constexpr std::uint32_t program_bits = 1;  // SHT_PROGBITS

struct FileHeader {
  unsigned char ident[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, segments_at, sections_at;
  std::uint32_t flags;
  std::uint16_t bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};

struct Section {
  std::uint32_t name, type;
  std::uint64_t flags, address, offset, size;
  std::uint32_t link, info;
  std::uint64_t alignment, entry_bytes;
};

struct Segment {
  std::uint32_t type, flags;
  std::uint64_t offset, address, physical_address, file_bytes, memory_bytes, alignment;
};

/// Bytes to remove: [begin, end).
struct Gap {
  std::uint64_t begin, end;
};

/// Reads an array of structures from the file.
template <class T>
std::vector<T> read(std::string_view file, std::uint64_t at, std::size_t count) {
  if (at > file.size() || count > (file.size() - at) / sizeof(T)) {
    throw std::runtime_error("the machine code is cut short");
  }
  std::vector<T> all(count);
  if (count > 0) std::memcpy(all.data(), file.data() + at, count * sizeof(T));
  return all;
}

template <class T>
void write(std::string& file, std::uint64_t at, const std::vector<T>& all) {
  if (at > file.size() || all.size() > (file.size() - at) / sizeof(T)) {
    throw std::runtime_error("the machine code has tables within its line tables");
  }
  if (!all.empty()) std::memcpy(file.data() + at, all.data(), all.size() * sizeof(T));
}

FileHeader header_of(std::string_view file) {
  constexpr std::string_view magic =
      "\x7f"
      "ELF\x02\x01";  // 64 bits, little endian
  if (!file.starts_with(magic)) throw std::runtime_error("not machine code: no 64-bit ELF file");
  const FileHeader header = read<FileHeader>(file, 0, 1).front();
  if (header.section_bytes != sizeof(Section) ||
      (header.segment_count > 0 && header.segment_bytes != sizeof(Segment)) ||
      header.names >= header.section_count) {
    throw std::runtime_error("the machine code has an ELF header of another form");
  }
  return header;
}

bool is_line_table(std::string_view name) {
  if (name.starts_with(".rel")) name.remove_prefix(name.starts_with(".rela") ? 5 : 4);
  return name == ".debug_line" || name == ".debug_str" || name.starts_with(".nv_debug_");
}

std::string_view name_of(const Section& section, std::string_view names) {
  if (section.name >= names.size()) throw std::runtime_error("a section's name is cut short");
  const std::string_view rest = names.substr(section.name);
  return rest.substr(0, rest.find('\0'));
}

/// The removable bytes, rounded to multiples of the alignment of the following sections so that
/// these stay aligned.
std::vector<Gap> gaps_of(const std::vector<Section>& sections, std::string_view names) {
  std::vector<Section> in_file;
  std::ranges::copy_if(sections, std::back_inserter(in_file), [](const Section& section) {
    return section.type != no_bits && section.size > 0;
  });
  std::ranges::stable_sort(in_file, {}, &Section::offset);
  std::vector<Gap> gaps;
  bool after_dropped = false;
  std::uint64_t alignment = 8;
  for (const Section& section : in_file) {
    alignment = std::max(alignment, section.alignment);
    const bool is_dropped = is_line_table(name_of(section, names));
    const std::uint64_t end = section.offset + section.size;
    if (is_dropped && after_dropped) gaps.back().end = end;
    if (is_dropped && !after_dropped) gaps.push_back({section.offset, end});
    after_dropped = is_dropped;
  }
  for (Gap& gap : gaps) gap.end -= (gap.end - gap.begin) % alignment;
  return gaps;
}

std::uint64_t moved(std::uint64_t offset, const std::vector<Gap>& gaps) {
  std::uint64_t before = 0;
  for (const Gap& gap : gaps) {
    if (gap.begin < offset) before += std::min(offset, gap.end) - gap.begin;
  }
  return offset - before;
}

std::string without(std::string_view file, const std::vector<Gap>& gaps) {
  std::string kept;
  std::uint64_t at = 0;
  for (const Gap& gap : gaps) {
    kept += file.substr(at, gap.begin - at);
    at = gap.end;
  }
  return kept += file.substr(at);
}

void empty(Section& section) {
  section.type = program_bits;
  section.flags = section.address = section.size = section.entry_bytes = 0;
  section.link = section.info = 0;
  section.alignment = 1;
}

void move(Segment& segment, const std::vector<Gap>& gaps) {
  const std::uint64_t end = moved(segment.offset + segment.file_bytes, gaps);
  segment.offset = moved(segment.offset, gaps);
  segment.file_bytes = end - segment.offset;
}

}  // namespace

std::string cubin_without_lines(std::string_view cubin) {
  FileHeader header = header_of(cubin);
  std::vector<Section> sections = read<Section>(cubin, header.sections_at, header.section_count);
  std::vector<Segment> segments = read<Segment>(cubin, header.segments_at, header.segment_count);
  for (const Section& section : sections) {
    if (section.type != no_bits) read<char>(cubin, section.offset, section.size);
  }
  const Section& named = sections[header.names];
  read<char>(cubin, named.offset, named.size);
  const std::string_view names = cubin.substr(named.offset, named.size);
  const std::vector<Gap> gaps = gaps_of(sections, names);

  std::string kept = without(cubin, gaps);
  for (Section& section : sections) {
    section.offset = moved(section.offset, gaps);
    if (section.type != no_bits && is_line_table(name_of(section, names))) empty(section);
  }
  for (Segment& segment : segments) move(segment, gaps);
  header.sections_at = moved(header.sections_at, gaps);
  header.segments_at = moved(header.segments_at, gaps);
  write(kept, 0, std::vector{header});
  write(kept, header.sections_at, sections);
  write(kept, header.segments_at, segments);
  return kept;
}

}  // namespace rung::cuda
