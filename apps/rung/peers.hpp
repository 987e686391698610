#pragma once
// Opening peers for a command.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "measure/peers/peer.hpp"

namespace rung {

/// The peers that --vs asks for.
struct WantedPeers {
  std::vector<const PeerKind*> kinds;
  bool are_named = false;  // and not just all that are here
};

/// The values of --vs: names of peers, or nothing for all, or `none` alone for none. Throws
/// UsageError for any other.
WantedPeers read_peers(const std::vector<std::string>& names);

/// Of the peers, those for the devices of these backends. Throws UnavailableError if one that was
/// named is for none of them.
WantedPeers for_devices(const WantedPeers& wanted, const std::vector<const Backend*>& backends);

/// Peers that were asked for and are here. Call clear_harmful_environment() first.
class Peers {
 public:
  /// Each peer is opened for the one of the backends that is its device; they must outlive it.
  /// Throws UnavailableError if a peer that was named is not here.
  Peers(const WantedPeers& wanted, const std::vector<const Backend*>& backends);

  std::vector<const Peer*> opened() const;
  std::vector<const Peer*> opened_for(const Backend& backend) const;
  /// What a reader of the results should know of them, line by line.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  void open(const PeerKind& kind, const Backend& backend, bool is_named);

  struct Opened {
    std::unique_ptr<Peer> peer;
    const Backend* backend;
  };

  std::vector<Opened> peers_;
  std::vector<std::string> remarks_;
};

}  // namespace rung
