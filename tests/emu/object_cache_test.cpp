// The cache of compiled objects: which inputs hit, and which miss.

#include "emu/compile/link/object_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

class ObjectCacheTest : public testing::Test {
 protected:
  ObjectCacheTest()
      : folder_(fs::temp_directory_path() / ("rung_object_cache_" + std::to_string(getpid()))),
        cache_(folder_ / "cache") {
    fs::create_directories(folder_ / "include");
    write("main.cu", "#include \"a.h\"\n");
    write("include/a.h", "int a;\n");
    write("main.d",
          "main.o: " + path("main.cu").string() + " \\\n  " + path("include/a.h").string() + "\n");
    write("main.o", std::string("object\0code", 11));
    write("main.ptx", "ptx");
    options_.architecture = "sm_90";
    options_.passed = {"-I" + path("include").string()};
  }
  ~ObjectCacheTest() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string key() const {
    return ObjectCache::key(options_, path("main.cu"), {"/include", "/library", {}}, "/bin/sh");
  }
  void store() const { cache_.store(key(), {path("main.o"), path("main.ptx")}, {path("main.d")}); }
  bool is_found() const { return cache_.fetch(key(), {path("again.o"), path("again.ptx")}); }

  fs::path folder_;
  ObjectCache cache_;
  CompileOptions options_;
};

TEST_F(ObjectCacheTest, GivesTheSameFilesAgain) {
  EXPECT_FALSE(is_found());
  store();
  ASSERT_TRUE(is_found());
  EXPECT_EQ(read("again.o"), std::string("object\0code", 11));
  EXPECT_EQ(read("again.ptx"), "ptx");
}

TEST_F(ObjectCacheTest, AChangedSourceOrHeaderIsCompiledAgain) {
  store();
  write("include/a.h", "int b;\n");  // the same size
  EXPECT_FALSE(is_found());
  write("include/a.h", "int a;\n");
  EXPECT_TRUE(is_found());
  write("main.cu", "");
  EXPECT_FALSE(is_found());
  write("main.cu", "#include \"a.h\"\n");
  fs::remove(path("include/a.h"));
  EXPECT_FALSE(is_found());
}

TEST_F(ObjectCacheTest, ANewHeaderMayComeFirst) {
  store();
  write("output.json", "");  // a program's output is not a header
  EXPECT_TRUE(is_found());
  write("a.h", "");
  EXPECT_FALSE(is_found());
  fs::remove(path("a.h"));
  EXPECT_TRUE(is_found());
  write("include/other.cuh", "");
  EXPECT_FALSE(is_found());
}

TEST_F(ObjectCacheTest, OtherOptionsAreOtherEntries) {
  store();
  const CompileOptions before = options_;
  const auto expect_other = [&](auto&& change) {
    change(options_);
    EXPECT_FALSE(is_found());
    options_ = before;
  };
  expect_other([](CompileOptions& options) { options.passed.push_back("-DX"); });
  expect_other([](CompileOptions& options) { options.passed[0] += "/."; });
  expect_other([](CompileOptions& options) { options.architecture = "sm_80"; });
  expect_other([](CompileOptions& options) { options.relocatable = true; });
  expect_other([](CompileOptions& options) { options.all_cuda = true; });
  EXPECT_TRUE(is_found());
  setenv("CPLUS_INCLUDE_PATH", "/elsewhere", 1);
  EXPECT_FALSE(is_found());
  unsetenv("CPLUS_INCLUDE_PATH");
  EXPECT_NE(key(),
            ObjectCache::key(options_, path("main.cu"), {"/include", "/library", {}}, "/bin/ls"));
}

TEST_F(ObjectCacheTest, WordsDoNotRunTogether) {
  options_.passed = {"-DA", "B"};
  const std::string apart = key();
  options_.passed = {"-D", "AB"};
  EXPECT_NE(key(), apart);
}

TEST_F(ObjectCacheTest, WhatDependsOnTheTimeIsNotKept) {
  write("include/a.h", "const char* when = __DATE__;\n");
  store();
  EXPECT_FALSE(is_found());
}

TEST_F(ObjectCacheTest, ADamagedEntryIsNone) {
  store();
  const fs::path entry = fs::directory_iterator(path("cache"))->path();
  fs::resize_file(entry, fs::file_size(entry) - 1);
  EXPECT_FALSE(is_found());
  std::ofstream(entry) << "nonsense";
  EXPECT_FALSE(is_found());
  std::ofstream(entry) << "";
  EXPECT_FALSE(is_found());
}

TEST_F(ObjectCacheTest, TheOldestEntriesGo) {
  store();
  const std::uintmax_t bytes = fs::file_size(fs::directory_iterator(path("cache"))->path());
  const ObjectCache small(path("cache"), bytes + bytes / 2);
  fs::last_write_time(fs::directory_iterator(path("cache"))->path(),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  small.store("other", {path("main.o"), path("main.ptx")}, {path("main.d")});
  EXPECT_FALSE(is_found());
  EXPECT_TRUE(small.fetch("other", {path("again.o"), path("again.ptx")}));
}

TEST_F(ObjectCacheTest, WithoutAFolderItDoesNothing) {
  const ObjectCache none{fs::path()};
  none.store(key(), {path("main.o")}, {path("main.d")});
  EXPECT_FALSE(none.fetch(key(), {path("again.o")}));
  const ObjectCache unwritable("/proc/none");
  unwritable.store(key(), {path("main.o")}, {path("main.d")});
  EXPECT_FALSE(unwritable.fetch(key(), {path("again.o")}));
}

TEST(Dependencies, OfARule) {
  EXPECT_EQ(read_dependencies("a.o: b.cu \\\n /x/c\\ d.h \\\n  e$$.h\n"),
            (std::vector<std::string>{"b.cu", "/x/c d.h", "e$.h"}));
  EXPECT_TRUE(read_dependencies("a.o:\n").empty());
}

}  // namespace
}  // namespace rung::emu
