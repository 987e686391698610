#pragma once
// Opens peers for a command.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "tools/measure/peers/peer.hpp"

namespace rung {

/// The peers of --vs.
struct WantedPeers {
  std::vector<const PeerKind*> kinds;
  bool are_named = false;       // whether they were named, instead of all that are installed
  bool may_be_missing = false;  // named ones, too: for a file of the user's
  std::vector<std::string> left_out{};  // why, a line each
};

/// The values of --vs: names of peers, nothing for all, or only `none`. Throws UsageError for
/// others.
WantedPeers read_peers(const std::vector<std::string>& names);

/// The peers that run on the devices of these backends. Throws UnavailableError if a named peer runs on
/// none of them and may not be missing.
WantedPeers for_devices(const WantedPeers& wanted, const std::vector<const Backend*>& backends);

/// Opens the requested peers that are installed. Call prepare_environment() first.
class Peers {
 public:
  /// Each peer is opened for the backend of its device; the backends must outlive it. Throws
  /// UnavailableError if a named peer is not installed and may not be missing.
  Peers(const WantedPeers& wanted, const std::vector<const Backend*>& backends);

  std::vector<const Peer*> opened() const;
  std::vector<const Peer*> opened_for(const Backend& backend) const;
  /// Remarks for the reader of the results, line by line.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  void open(const PeerKind& kind, const Backend& backend, const WantedPeers& wanted);

  struct Opened {
    std::unique_ptr<Peer> peer;
    const Backend* backend;
  };

  std::vector<Opened> peers_;
  std::vector<std::string> remarks_;
};

}  // namespace rung
