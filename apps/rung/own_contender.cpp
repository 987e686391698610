#include "own_contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "arguments.hpp"
#include "backends/cuda/cuda.hpp"
#include "kernel_file/nearest_name.hpp"
#include "measure/peers/peer.hpp"

namespace rung {
namespace {

void add_rungs(Opponents& opponents, const std::string& selector, const std::string& op) {
  for (const RungInfo* rung : select({selector})) {
    if (rung->op == op && rung->backend == "cuda") opponents.rungs.push_back(rung);
  }
  if (!opponents.rungs.empty()) return;
  throw UsageError(
      fmt::format("--against: '{}' has no CUDA rung of {}, which the file computes", selector, op));
}

[[noreturn]] void refuse(const std::string& word, const std::string& op) {
  std::vector<std::string_view> known = {"library", "none"};
  for (const PeerKind& kind : peer_kinds()) known.push_back(kind.name);
  throw UsageError(
      fmt::format("--against: '{}' is no rung, such as {}/cuda/05, nor library, none or a peer{}",
                  word, op, did_you_mean(word, known)));
}

}  // namespace

Opponents read_opponents(const std::vector<std::string>& against, const std::string& op) {
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
        add_rungs(opponents, word, op);
      } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("--against: {}", error.what()));
      }
    } else if (word != "none") {
      refuse(word, op);
    }
  }
  if (opponents.peers.empty()) opponents.peers = {"none"};
  return opponents;
}

OwnContender::OwnContender(KernelFile file, const Backend& backend)
    : file_(std::move(file)),
      contender_(std::make_shared<const LoadedKernel>(file_, *gpu_of(backend))) {}

}  // namespace rung
