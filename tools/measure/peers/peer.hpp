#pragma once
// The libraries with which rungs are compared. Each is optional, and loaded at run time if
// installed.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/measure/contender.hpp"

namespace rung {

class Peer : public Contender {
 public:
  virtual std::string version() const = 0;
  /// The kernel set that the library selected for this machine, as named by the library.
  virtual std::string kernels() const = 0;
  /// The path of the loaded file.
  virtual std::string path() const = 0;
  /// Changes made to achieve the library's best performance, or a reason why it may not be
  /// achieved; empty if none.
  virtual std::string note() const { return {}; }
  /// For ragged groups, a contender that makes one call per group; it refers to this peer. Null if
  /// the library supports groups only in this way.
  virtual std::unique_ptr<Contender> loop_of_groups() const { return nullptr; }
};

struct PeerKind {
  std::string_view name;      // in --vs
  std::string_view device;    // "cpu" or "gpu"
  std::string_view package;   // its package on Debian and Ubuntu
  std::string_view variable;  // environment variable that overrides the file to load
  /// The peer, or nullptr with the reason in why_not. The backend must be available and outlive the
  /// peer.
  std::unique_ptr<Peer> (*open)(const Backend& backend, std::string& why_not);
};

/// All kinds of peers that this program supports.
std::span<const PeerKind> peer_kinds();

/// The peer for a backend of its device, which must outlive it, or nullptr with the reason and a
/// remedy in why_not. Call prepare_environment() first.
std::unique_ptr<Peer> open_peer(const PeerKind& kind, const Backend& backend, std::string& why_not);

/// Removes environment variables from this process that would slow down a peer, such as
/// OPENBLAS_CORETYPE, and sets variables that prevent idle threads of one peer from disturbing the
/// next. Returns the removed ones as NAME=value. Not thread-safe.
std::vector<std::string> prepare_environment();

}  // namespace rung
