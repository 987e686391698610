#include "own_contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "arguments.hpp"
#include "command.hpp"
#include "kernel_file/nearest_name.hpp"
#include "measure/peers/peer.hpp"

namespace rung {
namespace {

void add_rungs(Opponents& opponents, const std::string& selector, const KernelFile& file) {
  const std::string& op = file.signature.op;
  for (const RungInfo* rung : select({selector})) {
    if (rung->op == op && rung->backend == file.language()) opponents.rungs.push_back(rung);
  }
  if (!opponents.rungs.empty()) return;
  throw UsageError(fmt::format("--against: '{}' has no rung of {}/{}, which the file computes",
                               selector, op, file.language()));
}

[[noreturn]] void refuse(const std::string& word, const KernelFile& file) {
  std::vector<std::string_view> known = {"library", "none"};
  for (const PeerKind& kind : peer_kinds()) known.push_back(kind.name);
  throw UsageError(
      fmt::format("--against: '{}' is no rung, such as {}/{}/05, nor library, none or a peer{}",
                  word, file.signature.op, file.language(), did_you_mean(word, known)));
}

}  // namespace

Opponents read_opponents(const std::vector<std::string>& against, const KernelFile& file) {
  Opponents opponents;
  if (against.empty()) return opponents;
  opponents.with_library = false;
  for (const std::string& word : against) {
    const auto is_peer = [&](const PeerKind& kind) { return kind.name == word; };
    if (word == "library") {
      opponents.with_library = true;
    } else if (std::ranges::any_of(peer_kinds(), is_peer)) {
      opponents.peers.push_back(word);
    } else if (word.find('/') != word.npos) {
      try {
        add_rungs(opponents, word, file);
      } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("--against: {}", error.what()));
      }
    } else if (word != "none") {
      refuse(word, file);
    }
  }
  if (opponents.peers.empty()) opponents.peers = {"none"};
  return opponents;
}

OwnContender::OwnContender(KernelFile file, const Backend& backend)
    : file_(std::move(file)), contender_(load_file(file_, backend)) {}

}  // namespace rung
