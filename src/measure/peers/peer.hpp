#pragma once
// Libraries that the rungs are compared with. Each is opened at run time where it is installed, and
// is needed for nothing else.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/contender.hpp"

namespace rung {

class Peer : public Contender {
 public:
  virtual std::string version() const = 0;
  /// The kernel set that it chose for this machine, in its own words.
  virtual std::string kernels() const = 0;
  /// The file that was opened.
  virtual std::string path() const = 0;
  /// What was done so that it runs at its best, or why it may not; empty if nothing.
  virtual std::string note() const { return {}; }
};

struct PeerKind {
  std::string_view name;      // as --vs takes it
  std::string_view device;    // where it runs: "cpu" or "gpu"
  std::string_view package;   // what brings it on Debian and Ubuntu
  std::string_view variable;  // environment variable that names another file to open
  /// The peer, or nullptr with the reason in why_not. The backend must be here and outlive it.
  std::unique_ptr<Peer> (*open)(const Backend& backend, std::string& why_not);
};

/// Every kind of peer that this program knows.
std::span<const PeerKind> peer_kinds();

/// The peer for a backend of its device, which must outlive it, or nullptr with the reason in
/// why_not, and what would help. Call clear_harmful_environment() first.
std::unique_ptr<Peer> open_peer(const PeerKind& kind, const Backend& backend, std::string& why_not);

/// Removes from this process the environment variables that would make a peer slower than it is,
/// such as OPENBLAS_CORETYPE. Returns what was set, each as NAME=value. Not thread-safe.
std::vector<std::string> clear_harmful_environment();

}  // namespace rung
