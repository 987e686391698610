#include "peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backends/cuda/cuda.hpp"
#include "choices.hpp"
#include "command.hpp"

namespace rung {
namespace {

const Backend* backend_of(const PeerKind& kind, const std::vector<const Backend*>& backends) {
  const auto found = std::find_if(backends.begin(), backends.end(), [&](const Backend* backend) {
    if (backend->name() != kind.device) return false;
    return kind.device == "cpu" || gpu_of(*backend) != nullptr;  // those on a GPU use CUDA
  });
  return found == backends.end() ? nullptr : *found;
}

/// Why a peer does not run beside rungs on that device.
std::string why_apart(const PeerKind& kind, std::string_view device) {
  const auto absent = find_backend(kind.device)->absent();
  if (absent) return fmt::format("'{}' is not available: {}", kind.name, *absent);
  return fmt::format("'{}' runs on the {}; it cannot be compared with rungs on {}", kind.name,
                     kind.device, device);
}

/// Throws UnavailableError unless named peers may be missing; then returns the line to print.
std::string leave_out(const WantedPeers& wanted, const std::string& why) {
  if (!wanted.may_be_missing) throw UnavailableError("--vs: " + why);
  return "left out: " + why;
}

}  // namespace

WantedPeers read_peers(const std::vector<std::string>& names) {
  WantedPeers wanted;
  if (names.size() == 1 && names.front() == "none") return wanted;
  std::vector<std::string_view> known;
  for (const PeerKind& kind : peer_kinds()) {
    known.push_back(kind.name);
    const bool is_named = std::find(names.begin(), names.end(), kind.name) != names.end();
    if (is_named || names.empty()) wanted.kinds.push_back(&kind);
  }
  wanted.are_named = !names.empty();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError(not_one_of("--vs", name, known, ", or none alone"));
    }
  }
  return wanted;
}

WantedPeers for_devices(const WantedPeers& wanted, const std::vector<const Backend*>& backends) {
  WantedPeers fitting;
  fitting.are_named = wanted.are_named;
  fitting.may_be_missing = wanted.may_be_missing;
  for (const PeerKind* kind : wanted.kinds) {
    if (backend_of(*kind, backends) != nullptr) {
      fitting.kinds.push_back(kind);
    } else if (wanted.are_named) {
      fitting.left_out.push_back(leave_out(wanted, why_apart(*kind, backends.front()->name())));
    }
  }
  return fitting;
}

Peers::Peers(const WantedPeers& wanted, const std::vector<const Backend*>& backends)
    : remarks_(wanted.left_out) {
  for (const PeerKind* kind : wanted.kinds) open(*kind, *backend_of(*kind, backends), wanted);
}

void Peers::open(const PeerKind& kind, const Backend& backend, const WantedPeers& wanted) {
  std::string why_not;
  auto peer = open_peer(kind, backend, why_not);
  if (peer == nullptr) {
    // One that is not installed is not missed; one that cannot be opened is.
    const bool is_missing = why_not.starts_with("not installed") || kind.device != "cpu";
    if (!wanted.are_named && is_missing) return;
    remarks_.push_back(
        wanted.are_named
            ? leave_out(wanted, fmt::format("'{}' is not available: {}", kind.name, why_not))
            : fmt::format("peer {} is not available: {}", kind.name, why_not));
    return;
  }
  std::string line = fmt::format("peer {} {} ({})", kind.name, peer->version(), peer->kernels());
  if (!peer->note().empty()) line += "; " + peer->note();
  remarks_.push_back(std::move(line));
  peers_.push_back({std::move(peer), &backend});
}

std::vector<const Peer*> Peers::opened() const {
  std::vector<const Peer*> opened;
  for (const Opened& each : peers_) opened.push_back(each.peer.get());
  return opened;
}

std::vector<const Peer*> Peers::opened_for(const Backend& backend) const {
  std::vector<const Peer*> opened;
  for (const Opened& each : peers_) {
    if (each.backend == &backend) opened.push_back(each.peer.get());
  }
  return opened;
}

}  // namespace rung
