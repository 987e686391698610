#include "rung/version.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "rung/rung.h"

namespace rung {
namespace {

TEST(Version, IsThatOfTheProject) {
  EXPECT_EQ(version, RUNG_PROJECT_VERSION);
  EXPECT_EQ(std::to_string(version_major) + "." + std::to_string(version_minor) + "." +
                std::to_string(version_patch),
            RUNG_PROJECT_VERSION);
  EXPECT_STREQ(rung_version(), RUNG_PROJECT_VERSION);
}

TEST(PublicHeaders, IncludeTheStandardLibraryAndEachOtherOnly) {
  const auto standard = [](const std::string& line) {  // without a folder: <vector>, <stdint.h>
    return line.starts_with("#include <") && line.find('/') == std::string::npos;
  };
  int includes = 0;
  for (const auto& header : std::filesystem::directory_iterator(RUNG_HEADERS)) {
    std::ifstream file(header.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("#include")) continue;
      ++includes;
      EXPECT_TRUE(standard(line) || line.starts_with("#include \"rung/")) << header.path() << line;
    }
  }
  EXPECT_GT(includes, 10);
}

}  // namespace
}  // namespace rung
