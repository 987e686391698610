// rung_pack: the removal of line tables from PTX and machine code, which leaves everything else
// unchanged; and numbers stored as differences.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/cuda/pack/differences.hpp"
#include "backends/cuda/pack/without_lines.hpp"

namespace rung::cuda {
namespace {

TEST(PtxWithoutLines, KeepsEveryOtherLine) {
  EXPECT_EQ(ptx_without_lines(".version 8.5\n"
                              ".visible .entry f()\n"
                              "{\n"
                              "\t.loc\t1 26 7\n"
                              "\tmov.u32 \t%r1, 0;\n"
                              "\t.local .b8 x;\n"
                              "}\n"
                              "\t.file\t1 \"a.cu\"\n"
                              "\t.section\t.debug_loc\t{\t}\n"
                              "\t.section\t.debug_str\n"
                              "\t{\n"
                              "info:\n"
                              ".b8 95,90,0\n"
                              "\t}\n"
                              ".visible .entry g() { ret; }"),
            ".version 8.5\n"
            ".visible .entry f()\n"
            "{\n"
            "\tmov.u32 \t%r1, 0;\n"
            "\t.local .b8 x;\n"
            "}\n"
            ".visible .entry g() { ret; }");
}

TEST(PtxWithoutLines, OfNothingIsNothing) { EXPECT_EQ(ptx_without_lines(""), ""); }

void expect_round_trip(const std::string& ptx) {
  EXPECT_EQ(without_differences(with_differences(ptx)), ptx);
}

TEST(Differences, OfLinesThatBeginAlikeAreAlike) {
  const std::string coded = with_differences(
      "\tfma.rn.f32 \t%f100, %f10, %f20, %f99;\n"
      "\tfma.rn.f32 \t%f102, %f11, %f20, %f101;\n"
      "\tfma.rn.f32 \t%f104, %f12, %f20, %f103;\n");
  const std::size_t length = coded.rfind('\n', coded.size() - 2) + 1;
  EXPECT_EQ(coded.substr(length), "\tfma.rn.f32 \t%f\x84, %f\x82, %f\x80, %f\x84;\n");
  EXPECT_EQ(coded.find(coded.substr(length)), coded.find('\n') + 1);
}

TEST(Differences, ComeBackAsTheyWere) {
  expect_round_trip("");
  expect_round_trip("\n\nno end");
  expect_round_trip(
      ".reg .b32 \t%r<77>;\n$L__BB0_2:\n\tld.f32 \t%f1, [%rd3+128];\n\tld.f32 \t%f1, [%rd3+-8];\n"
      "\tmov.f32 \t%f2, 0f3F800000;\n\tmov.u32 \t%r007, 0x10;\n\tadd.s32 \t%r1, %r2, 4294967295;\n"
      "\tadd.s32 \t%r999999999, %r0, 12345678901;\n\tadd.s32 \t%r0, %r999999999, -1;\n"
      "\t.loc\t1 26 7\n@%p1 bra $L__BB0_2;\n");
}

TEST(Differences, AreNotThoseOfOtherLetters) {
  EXPECT_TRUE(can_have_differences("\t.file\t1 \"a.cu\"\n"));
  EXPECT_FALSE(can_have_differences("\t.file\t1 \"\xc3\xa4.cu\"\n"));
}

/// Appends a number of `bytes` bytes, little-endian.
void put(std::string& file, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) file += static_cast<char>(value >> 8 * i);
}
std::uint64_t get(const std::string& file, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(file.at(at + i))} << 8 * i;
  }
  return value;
}

struct TestSection {
  std::string name, bytes;
  std::uint64_t alignment;
  std::uint64_t type = 1;
};

std::size_t round_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

constexpr std::size_t header_bytes = 64;
constexpr std::size_t section_bytes = 64;
constexpr std::size_t segment_bytes = 56;

/// An ELF file with a first section of names, these sections, and a segment that contains the last
/// one.
std::string elf_of(const std::vector<TestSection>& sections) {
  std::string names(1, '\0');
  for (const TestSection& section : sections) names += section.name + '\0';
  std::string body = names;
  std::vector<std::size_t> offsets;
  for (const TestSection& section : sections) {
    body.resize(round_up(header_bytes + body.size(), section.alignment) - header_bytes);
    offsets.push_back(header_bytes + body.size());
    if (section.type != 8) body += section.bytes;
  }
  body.resize(round_up(body.size(), 8));

  std::string file(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  file.resize(16);
  put(file, 2, 2);    // executable
  put(file, 190, 2);  // CUDA
  put(file, 1, 4);
  put(file, 0, 8);
  const std::size_t sections_at = header_bytes + body.size();
  put(file, sections_at + section_bytes * (1 + sections.size()), 8);
  put(file, sections_at, 8);
  put(file, 0, 4);
  put(file, header_bytes, 2);
  put(file, segment_bytes, 2);
  put(file, 1, 2);
  put(file, section_bytes, 2);
  put(file, 1 + sections.size(), 2);
  put(file, 0, 2);  // section 0 has the names
  file += body;

  const auto put_section = [&](std::size_t name, std::uint64_t type, std::size_t offset,
                               std::size_t size, std::uint64_t alignment) {
    put(file, name, 4);
    put(file, type, 4);
    put(file, 2, 8);
    put(file, 0, 8);
    put(file, offset, 8);
    put(file, size, 8);
    put(file, 0, 8);
    put(file, alignment, 8);
    put(file, 0, 8);
  };
  put_section(0, 3, header_bytes, names.size(), 1);
  std::size_t name = 1;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const TestSection& section = sections[i];
    put_section(name, section.type, offsets[i], section.bytes.size(), section.alignment);
    name += section.name.size() + 1;
  }
  put(file, 1, 4);
  put(file, 5, 4);
  put(file, offsets.back(), 8);
  put(file, 0, 8);
  put(file, 0, 8);
  put(file, sections.back().bytes.size(), 8);
  put(file, sections.back().bytes.size(), 8);
  put(file, sections.back().alignment, 8);
  return file;
}

/// The bytes of a section; section 0 has the names.
std::string section(const std::string& file, std::size_t number) {
  const std::size_t at = get(file, 40, 8) + section_bytes * number;
  return file.substr(get(file, at + 24, 8), get(file, at + 32, 8));
}

std::string text(char letter, std::size_t length) { return std::string(length, letter); }

const std::vector<TestSection> example = {
    {".strtab", text('s', 13), 1},          {".debug_frame", text('f', 20), 1},
    {".debug_line", text('l', 1001), 1},    {".nv_debug_ptx_txt", text('p', 5000), 1},
    {".nv.info", text('i', 12), 4},         {".rel.debug_line", text('r', 700), 8},
    {".rel.debug_frame", text('q', 32), 8}, {".nv.shared", text('n', 4096), 16, 8},
    {".text.kernel", text('t', 640), 128},
};

TEST(CubinWithoutLines, KeepsEveryOtherSectionWhereItIsAligned) {
  const std::string before = elf_of(example);
  const std::string after = cubin_without_lines(before);
  EXPECT_LE(after.size(), before.size() - 6000);
  EXPECT_EQ(section(after, 0), section(before, 0));
  for (std::size_t i = 0; i < example.size(); ++i) {
    const TestSection& was = example[i];
    if (was.type == 8) continue;  // SHT_NOBITS: occupies no space in the file
    const bool gone = was.name == ".debug_line" || was.name == ".nv_debug_ptx_txt" ||
                      was.name == ".rel.debug_line";
    EXPECT_EQ(section(after, 1 + i), gone ? "" : was.bytes) << was.name;
    const std::size_t at = get(after, 40, 8) + section_bytes * (1 + i);
    EXPECT_EQ(get(after, at + 24, 8) % get(after, at + 48, 8), 0u) << was.name;
  }
  const std::size_t segment = get(after, 32, 8);
  EXPECT_EQ(after.substr(get(after, segment + 8, 8), get(after, segment + 32, 8)), text('t', 640));
}

TEST(CubinWithoutLines, OfCodeWithoutThemIsTheSame) {
  const std::string code = elf_of({{".strtab", "x", 1}, {".text.kernel", text('t', 64), 128}});
  EXPECT_EQ(cubin_without_lines(code), code);
}

TEST(CubinWithoutLines, RefusesWhatIsCutShort) {
  const std::string whole = elf_of(example);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(cubin_without_lines(whole.substr(0, length)), std::runtime_error) << length;
  }
}

TEST(CubinWithoutLines, RefusesOtherFiles) {
  EXPECT_THROW(cubin_without_lines(".version 8.5\n.target sm_90a\n" + text(' ', 100)),
               std::runtime_error);
  std::string other = elf_of(example);
  other[4] = 1;  // 32 bits
  EXPECT_THROW(cubin_without_lines(other), std::runtime_error);
}

}  // namespace
}  // namespace rung::cuda
