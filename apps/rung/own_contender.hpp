#pragma once
// A kernel in a file of the user's, as a contender of `rung bench`.

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "tools/kernel_file/loaded_file.hpp"

namespace rung {

/// Rungs, the library and peers to compare a file with.
struct Opponents {
  std::vector<const RungInfo*> rungs;
  bool with_library = true;
  std::vector<std::string> peers;  // empty: all that are installed
};

/// The values of the option --vs or --against for that file. Without values: the library and all peers.
/// Throws UsageError.
Opponents read_opponents(const char* option, const std::vector<std::string>& names,
                         const KernelFile& file);

/// A file, compiled and loaded on a backend's device.
class OwnContender {
 public:
  /// Compiles it. `backend` must outlive this. Throws as with_kernel_file() expects.
  OwnContender(KernelFile file, const Backend& backend);

  const Contender& contender() const { return *contender_; }

 private:
  KernelFile file_;
  std::shared_ptr<const LoadedFile> contender_;
};

}  // namespace rung
