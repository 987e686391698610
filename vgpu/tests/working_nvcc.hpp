#pragma once
// The nvcc that the build was configured with. The toolkit may have been removed since then.

#include <unistd.h>

#include <cstdio>
#include <string>

namespace rung {

/// RUNG_TEST_NVCC; empty if there was none. If it no longer exists, returns an empty string, too,
/// and says so on standard error.
inline std::string working_nvcc() {
  const std::string nvcc = RUNG_TEST_NVCC;
  if (nvcc.empty() || access(nvcc.c_str(), X_OK) == 0) return nvcc;
  std::fprintf(stderr, "SKIPPED: %s is gone since this build was configured\n", nvcc.c_str());
  return "";
}

}  // namespace rung
