#pragma once
// Several ranks on the virtual GPU: threads of one process, with a stand-in for NCCL and for the
// driver's functions for peer memory. The virtual GPU executes work in the call that enqueues it,
// so the stand-in waits for other ranks in that call, too.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "library/dist/nccl/backend.hpp"

namespace rung::nccl {

/// How long the stand-in waits for another rank before it reports an error.
inline constexpr std::chrono::milliseconds patience{120'000};
void set_patience(std::chrono::milliseconds limit);

/// The stand-ins on top of the virtual driver. ncclSend and ncclRecv check that sizes match.
const Api& standin_nccl();
/// The stand-in without the functions added after NCCL 2.18.
const Api& standin_nccl_2_18();
const PeerApi& standin_peers();

/// From now on, ncclCommGetAsyncError reports `error`; Result::success for no error.
void set_async_error(Result error);
/// Counts since the last call of take_counts(): bytes sent by ncclSend, communicators aborted, and
/// all-gathers of a rank whose results were in a symmetric window.
struct StandinCounts {
  std::int64_t sent = 0;
  int aborted = 0;
  int gathered_in_windows = 0;
};
StandinCounts take_counts();
/// If true, rank 0 gets no symmetric window.
void refuse_windows(bool refuse);

/// Communicators of all ranks, as from ncclCommInitAll.
std::vector<Comm> make_comms(int ranks);

/// Runs f(rank, comm) on one thread per rank, with the virtual GPU's context current. Returns each
/// rank's exception message, or an empty string if it threw none.
std::vector<std::string> on_ranks(int ranks, const std::function<void(int, Comm)>& f);

}  // namespace rung::nccl
