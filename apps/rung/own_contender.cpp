#include "own_contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "arguments.hpp"
#include "command.hpp"
#include "tools/kernel_file/nearest_name.hpp"
#include "tools/measure/peers/peer.hpp"

namespace rung {
namespace {

void add_rungs(Opponents& opponents, const char* option, const std::string& selector,
               const KernelFile& file) {
  const std::string& op = file.signature.op;
  for (const RungInfo* rung : select_with_notes({selector})) {
    if (rung->op == op && rung->backend == file.language()) opponents.rungs.push_back(rung);
  }
  if (!opponents.rungs.empty()) return;
  throw UsageError(fmt::format("{}: '{}' has no rung of {}/{}, which the file computes", option,
                               selector, op, file.language()));
}

[[noreturn]] void refuse(const char* option, const std::string& word, const KernelFile& file) {
  std::vector<std::string_view> known = {"library", "none"};
  for (const PeerKind& kind : peer_kinds()) known.push_back(kind.name);
  throw UsageError(
      fmt::format("{}: '{}' is no rung, such as {}/{}/05, nor library, none or a peer{}", option,
                  word, file.signature.op, file.language(), did_you_mean(word, known)));
}

}  // namespace

Opponents read_opponents(const char* option, const std::vector<std::string>& names,
                         const KernelFile& file) {
  Opponents opponents;
  if (names.empty()) return opponents;
  opponents.with_library = false;
  for (const std::string& word : names) {
    const auto is_peer = [&](const PeerKind& kind) { return kind.name == word; };
    if (word == "library") {
      opponents.with_library = true;
    } else if (std::ranges::any_of(peer_kinds(), is_peer)) {
      opponents.peers.push_back(word);
    } else if (word.find('/') != word.npos) {
      try {
        add_rungs(opponents, option, word, file);
      } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("{}: {}", option, error.what()));
      }
    } else if (word != "none") {
      refuse(option, word, file);
    }
  }
  if (opponents.peers.empty()) opponents.peers = {"none"};
  return opponents;
}

OwnContender::OwnContender(KernelFile file, const Backend& backend)
    : file_(std::move(file)), contender_(load_file(file_, backend)) {}

}  // namespace rung
