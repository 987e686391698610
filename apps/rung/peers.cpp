#include "peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "command.hpp"

namespace rung {

std::vector<std::string> read_peers(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const PeerKind& kind : peer_kinds()) known.push_back(kind.name);
  if (names.empty()) return {known.begin(), known.end()};
  if (names.size() == 1 && names.front() == "none") return {};
  for (const std::string& wanted : names) {
    if (std::find(known.begin(), known.end(), wanted) == known.end()) {
      throw UsageError(fmt::format("--vs: '{}' is not one of {}, or none alone", wanted,
                                   fmt::join(known, ", ")));
    }
  }
  return names;
}

Peers::Peers(const std::vector<std::string>& names) {
  for (const std::string& cleared : clear_harmful_environment()) {
    remarks_.push_back("ignored for the peers' sake: " + cleared);
  }
  const bool is_choice = names.size() < peer_kinds().size();
  for (const PeerKind& kind : peer_kinds()) {
    if (std::find(names.begin(), names.end(), kind.name) == names.end()) continue;
    std::string why_not;
    auto peer = kind.open(why_not);
    if (peer == nullptr) {
      if (!is_choice) continue;
      throw UnavailableError(
          fmt::format("--vs: '{}' is not available: {}; it comes with package {}", kind.name,
                      why_not, kind.package));
    }
    std::string line = fmt::format("peer {} {} ({})", kind.name, peer->version(), peer->kernels());
    if (!peer->note().empty()) line += "; " + peer->note();
    remarks_.push_back(std::move(line));
    peers_.push_back(std::move(peer));
  }
}

std::vector<const Peer*> Peers::opened() const {
  std::vector<const Peer*> opened;
  for (const auto& peer : peers_) opened.push_back(peer.get());
  return opened;
}

}  // namespace rung
