#pragma once
// The libraries that the rungs are compared with. Each is optional, and opened at run time if
// installed.

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
  /// The kernel set that it selected for this machine, in its own words.
  virtual std::string kernels() const = 0;
  /// The file that was opened.
  virtual std::string path() const = 0;
  /// What was done to make it run at its best, or why it may not; empty if nothing.
  virtual std::string note() const { return {}; }
  /// For ragged groups: a contender that computes them by a call for each group. It refers to this peer;
  /// null if the library has no other way to compute them.
  virtual std::unique_ptr<Contender> loop_of_groups() const { return nullptr; }
};

struct PeerKind {
  std::string_view name;      // its name in --vs
  std::string_view device;    // where it runs: "cpu" or "gpu"
  std::string_view package;   // its package on Debian and Ubuntu
  std::string_view variable;  // environment variable with another file to open
  /// The peer, or nullptr with the reason in why_not. The backend must be available and outlive the
  /// peer.
  std::unique_ptr<Peer> (*open)(const Backend& backend, std::string& why_not);
};

/// Every kind of peer that this program knows.
std::span<const PeerKind> peer_kinds();

/// The peer for a backend of its device, which must outlive it, or nullptr with the reason and a
/// remedy in why_not. Call prepare_environment() first.
std::unique_ptr<Peer> open_peer(const PeerKind& kind, const Backend& backend, std::string& why_not);

/// Removes environment variables that would slow down a peer, such as OPENBLAS_CORETYPE, from this
/// process, and sets those that keep the idle threads of one peer from the time of the next.
/// Returns those that were removed, each as NAME=value. Not thread-safe.
std::vector<std::string> prepare_environment();

}  // namespace rung
