#pragma once
// Several ranks on the virtual GPU: threads of one process, with a stand-in for NCCL and for the driver's
// functions for peer memory. Work of the virtual GPU runs in the call that enqueues it, so the stand-in
// waits for the other ranks in the call, too.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/nccl/backend.hpp"

namespace rung::nccl {

/// How long the stand-in waits for another rank before it reports an error.
inline constexpr std::chrono::milliseconds patience{5'000};
void set_patience(std::chrono::milliseconds limit);

/// The stand-ins over the virtual driver. ncclSend and ncclRecv check that sizes match.
const Api& standin_nccl();
/// Without what came after 2.18.
const Api& standin_nccl_2_18();
const PeerApi& standin_peers();

/// From now on ncclCommGetAsyncError reports that; success: no error.
void set_async_error(Result error);
/// Since the last call of this: bytes that were sent by ncclSend, communicators aborted, and all-gathers of a rank
/// whose results were in a symmetric window.
struct StandinCounts {
  std::int64_t sent = 0;
  int aborted = 0;
  int gathered_in_windows = 0;
};
StandinCounts take_counts();
/// Whether rank 0 gets no symmetric window.
void refuse_windows(bool refuse);

/// A communicator of that many ranks; what ncclCommInitAll makes.
std::vector<Comm> make_comms(int ranks);

/// Runs f(rank, comm) on a thread for each rank, with the virtual GPU's context current. What a rank
/// throws is its text in the result, otherwise it is empty.
std::vector<std::string> on_ranks(int ranks, const std::function<void(int, Comm)>& f);

}  // namespace rung::nccl
