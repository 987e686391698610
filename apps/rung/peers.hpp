#pragma once
// Opening peers for a command.

#include <memory>
#include <string>
#include <vector>

#include "measure/peers/peer.hpp"

namespace rung {

/// The values of --vs: names of peers, or nothing for all, or `none` alone for none. Throws
/// UsageError for any other.
std::vector<std::string> read_peers(const std::vector<std::string>& names);

/// Peers that were asked for and are here, after the environment was cleared for them.
class Peers {
 public:
  /// Names as read_peers() gives them. Throws UnavailableError if one that was named is not here.
  explicit Peers(const std::vector<std::string>& names);

  std::vector<const Peer*> opened() const;
  /// What a reader of the results should know of them, line by line.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::string> remarks_;
};

}  // namespace rung
