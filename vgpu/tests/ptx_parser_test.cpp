// Modules and functions, the fuzzer's corpus, and broken texts.

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "vgpu/tests/fuzz/ptx_invariants.hpp"
#include "vgpu/tests/ptx_text.hpp"

namespace rung::vgpu::ptx {
namespace {

/// The texts in tests/fuzz/corpus/ptx, by file name.
std::vector<std::pair<std::string, std::string>> corpus() {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& file : std::filesystem::directory_iterator(RUNG_PTX_CORPUS)) {
    std::ifstream stream(file.path(), std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    texts.emplace_back(file.path().filename().string(), text.str());
  }
  return texts;
}

TEST(PtxModule, HeaderAndFiles) {
  const Module m = parse(
      "//\n.version 9.0\n.target sm_90a, debug, texmode_unified\n.address_size 32\n"
      ".file 2 \"b.cuh\", 1700000000, 512\n.file 1 \"dir/a.cu\"\n.pragma \"nounroll\";\n");
  EXPECT_EQ(m.version_major, 9);
  EXPECT_EQ(m.version_minor, 0);
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_EQ(m.address_size, 32);
  EXPECT_EQ(m.files, (std::vector<std::string>{"", "dir/a.cu", "b.cuh"}));
}

TEST(PtxModule, SectionsAreSkipped) {
  const Module m = parse(
      module_text(".section .debug_str\n{\n$L__info: .b8 1,2\n.b32 $L__info+4\n.b64 .debug_loc\n}\n"
                  ".section .debug_macinfo { }\n.global .u32 x;\n"));
  ASSERT_EQ(m.variables.size(), 1U);
  EXPECT_EQ(m.variables[0].line, 11);
}

TEST(PtxModule, EveryFileOfALocIsAnIndex) {
  EXPECT_EQ(parse(module_text("")).files.size(), 1U);
  EXPECT_EQ(parse(module_text(".func f() { .loc 7 1 1\n ret; }")).files.size(), 8U);
}

TEST(PtxFunction, EntryWithParametersAndDirectives) {
  const Function f = parse(module_text(".visible .entry k(\n"
                                       ".param .u64 .ptr .global .align 16 a,\n"
                                       ".param .align 8 .b8 b[12], .param .f32 c)\n"
                                       ".maxntid 128, 2\n.minnctapersm 3\n.maxnreg 64\n"
                                       ".reqnctapercluster 2\n.explicitcluster\n"
                                       ".maxclusterrank 8\n.pragma \"nounroll\";\n{ ret; }"))
                         .functions.at(0);
  EXPECT_EQ(f.name, "k");
  EXPECT_TRUE(f.entry);
  EXPECT_FALSE(f.external);
  ASSERT_EQ(f.parameters.size(), 3U);
  EXPECT_EQ(f.parameters[0].type, Type::u64);
  EXPECT_EQ(f.parameters[0].align, 8);  // of the pointer, not of its target
  EXPECT_EQ(f.parameters[0].space, Space::param);
  EXPECT_EQ(f.parameters[1].bytes(), 12);
  EXPECT_EQ(f.parameters[1].align, 8);
  EXPECT_EQ(f.parameters[2].name, "c");
  EXPECT_EQ(f.max_threads[0], 128);
  EXPECT_EQ(f.max_threads[1], 2);
  EXPECT_EQ(f.max_threads[2], 1);
  EXPECT_EQ(f.required_threads[0], 0);
  EXPECT_EQ(f.min_blocks, 3);
  EXPECT_EQ(f.max_registers, 64);
  EXPECT_EQ(f.required_cluster[0], 2);
  EXPECT_EQ(f.line, 4);
}

TEST(PtxFunction, RequiredThreads) {
  const Function f = parse(module_text(".entry k()\n.reqntid 8, 4, 2\n{ ret; }")).functions.at(0);
  EXPECT_EQ(f.required_threads[2], 2);
  EXPECT_EQ(f.max_threads[0], 0);
}

TEST(PtxFunction, ADefinitionTakesTheDeclarationsPlace) {
  const Module m =
      parse(module_text(".func (.param .b32 r) f(.param .b32 a);\n.func g() { call f; ret; }\n"
                        ".func (.param .b32 r) f(.param .b32 a)\n{ call f; ret; }\n"
                        ".func (.param .b32 r) f(.param .b32 a);\n.extern .func h() .noreturn;\n"));
  ASSERT_EQ(m.functions.size(), 3U);
  EXPECT_EQ(m.functions[0].name, "f");
  EXPECT_FALSE(m.functions[0].external);
  EXPECT_EQ(m.functions[0].body.size(), 2U);
  EXPECT_EQ(m.functions[0].results.at(0).name, "r");
  EXPECT_TRUE(m.functions[2].external);
  EXPECT_EQ(m.find("g"), &m.functions[1]);
  EXPECT_EQ(m.find("nothing"), nullptr);
}

TEST(PtxFunction, RegisterParametersAreTheFirstRegisters) {
  const Function f = parse(module_text(".func (.reg .u32 %out) f(.reg .u32 %a, .reg .f64 %b)\n"
                                       "{ .reg .b32 %r<2>; add.u32 %out, %a, %r1; ret; }"))
                         .functions.at(0);
  ASSERT_EQ(f.registers.size(), 4U);
  EXPECT_EQ(f.parameters[1].space, Space::reg);
  EXPECT_EQ(f.registers[0].name, "%a");
  EXPECT_EQ(f.registers[1].type, Type::f64);
  EXPECT_EQ(f.registers[2].name, "%out");
  EXPECT_EQ(f.body[0].operands[0].reg, 2);
}

TEST(PtxFunction, AliasesAreFound) {
  const Module m =
      parse(module_text(".func a();\n.func b() { ret; }\n.alias a, b;\n.func c() { call a; }"));
  ASSERT_NE(m.find("a"), nullptr);
  EXPECT_EQ(m.find("a")->name, "b");
}

TEST(PtxModuleError, NamesLineAndWhatWasFound) {
  EXPECT_EQ(error_of(""), "text:1: expected '.version', found the end of the text");
  EXPECT_EQ(error_of("\n.target sm_80"), "text:2: expected '.version', found '.target'");
  EXPECT_EQ(error_of(".version 8"), "text:1: expected a version, such as 8.7, found '8'");
  EXPECT_EQ(error_of(".version 5.0"), "text:1: version is 5.0, allowed are 6.0 to 9.9");
  EXPECT_EQ(error_of(".version 8.0\n.func"), "text:2: expected '.target', found '.func'");
  EXPECT_EQ(error_of(".version 8.0 .target 80"),
            "text:1: expected a target, such as sm_80, found '80'");
  EXPECT_EQ(module_error(".address_size 48"),
            "text:4: the address size is 48, allowed are 32 and 64");
  EXPECT_EQ(module_error(".foo"),
            "text:4: expected a function, a variable or another directive of a module, found "
            "'.foo'");
  EXPECT_EQ(module_error(".section .debug_str {"),
            "text:4: expected '}' at the end of a section, found the end of the text");
  EXPECT_EQ(module_error(".file 65537 \"a\""),
            "text:4: the number of a file is 65537, allowed are 0 to 65536");
}

TEST(PtxModuleError, Functions) {
  EXPECT_EQ(module_error(".entry k() { ret; }\n.entry k() { ret; }"),
            "text:5: function 'k' is defined twice");
  EXPECT_EQ(module_error(".global .u32 k;\n.entry k() { ret; }"),
            "text:5: 'k' is a variable already");
  EXPECT_EQ(module_error(".entry k(.param .u32 a,\n.param .u32 a) { ret; }"),
            "text:5: 'a' is declared twice");
  EXPECT_EQ(module_error(".entry k(.global .u32 a) { ret; }"),
            "text:4: expected '.param' or '.reg', found '.global'");
  EXPECT_EQ(module_error(".entry k() .maxntid 0 { ret; }"),
            "text:4: a number of threads is 0, allowed are 1 to 2147483647");
  EXPECT_EQ(module_error(".entry k() .foo { ret; }"),
            "text:4: expected '{', ';' or a directive of a function, found '.foo'");
  EXPECT_EQ(module_error(".func b() { ret; }\n.alias a, b;"),
            "text:5: alias 'a' of 'b': the first must be a function that is declared only, the "
            "second one that is defined");
}

TEST(PtxModuleError, Characters) {
  EXPECT_EQ(module_error("#"), "text:4: unexpected character '#'");
  EXPECT_EQ(module_error("\x01"), "text:4: unexpected character '\\x01'");
  EXPECT_EQ(module_error(". x"), "text:4: a '.' without a name");
  EXPECT_EQ(module_error("\n/* *"), "text:5: comment without its '*/'");
  EXPECT_EQ(module_error(".file 1 \"a\n\""), "text:4: string without its closing '\"'");
  EXPECT_EQ(module_error(std::string(100, 'a')),
            "text:4: expected a function, a variable or another directive of a module, found '" +
                std::string(40, 'a') + "…'");
}

TEST(PtxModuleError, LineIsAlsoANumber) {
  try {
    parse("\n\n.foo", "a.ptx");
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.line, 3);
    EXPECT_STREQ(error.what(), "a.ptx:3: expected '.version', found '.foo'");
  }
}

TEST(PtxCorpus, EveryFileParses) {
  const auto texts = corpus();
  EXPECT_GE(texts.size(), 6U);
  for (const auto& [name, text] : texts) {
    SCOPED_TRACE(name);
    const Module module = parse(text, name);
    EXPECT_EQ(Invariants(module).first_violation(), "");
    EXPECT_FALSE(module.functions.empty());
  }
}

TEST(PtxCorpus, CompilersInitialisersAreRead) {
  for (const auto& [file, text] : corpus()) {
    if (!file.starts_with("language")) continue;
    SCOPED_TRACE(file);
    std::set<std::string> symbols;
    for (const Variable& variable : parse(text).variables) {
      for (const Variable::Fixup& fixup : variable.fixups) symbols.insert(fixup.symbol);
    }
    for (const char* wanted : {"numbers", "tail", "_Z5twicef", "_Z6thricef", "_ZN3Add5applyEi"}) {
      EXPECT_TRUE(symbols.contains(wanted)) << wanted;
    }
  }
}

// Each text, truncated at many positions, and with a byte changed there, gives a module or a
// ParseError.
TEST(PtxCorpus, BrokenTextsEndInAModuleOrAParseError) {
  const auto survives = [](const std::string& text) {
    try {
      const Module module = parse(text);
      EXPECT_EQ(Invariants(module).first_violation(), "");
    } catch (const ParseError& error) {
      EXPECT_GT(error.line, 0);
    }
  };
  for (const auto& [name, text] : corpus()) {
    SCOPED_TRACE(name);
    const std::size_t step = text.size() / 100 + 1;
    for (std::size_t at = 0; at < text.size(); at += step) {
      survives(text.substr(0, at));
      std::string changed = text;
      changed[at] = "{}[]();,.@%0\"/\0"[at % 15];
      survives(changed);
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::ptx
