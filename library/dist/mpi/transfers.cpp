#include "library/dist/mpi/transfers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "library/dist/mpi/grid.hpp"

namespace rung::dist {
namespace {

constexpr std::int64_t part_bytes = std::int64_t{1} << 30;  // MPI counts are int

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", value);
  return text;
}

}  // namespace

void require(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw CommunicationError(std::string(what) + ": " +
                           std::string(text, static_cast<std::size_t>(length)));
}

bool Message::done() {
  int flag = 1;
  require(MPI_Testall(static_cast<int>(parts_.size()), parts_.data(), &flag, MPI_STATUSES_IGNORE),
          "a message failed");
  return flag != 0;
}

int Transfers::rank() const { return grid_.rank; }

std::byte* Transfers::allocate(std::int64_t bytes) {
  // Huge pages: the first touch of ordinary pages took several percent of a rank's time.
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t page = size < huge_page ? 64 : huge_page;
  const std::size_t rounded = std::max<std::size_t>((size + page - 1) / page, 1) * page;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(page, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  memory_.emplace_back(memory);
#ifdef MADV_HUGEPAGE
  if (page == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);  // only for speed
#endif
  return memory;
}

Message& Transfers::add() { return messages_.emplace_back(); }

Message& Transfers::send(const void* data, std::int64_t bytes, int to, int tag) {
  Message& message = add();
  for (std::int64_t at = 0; at < bytes; at += part_bytes) {
    const int length = static_cast<int>(std::min(part_bytes, bytes - at));
    MPI_Request& request = message.parts_.emplace_back(MPI_REQUEST_NULL);
    require(MPI_Isend(static_cast<const std::byte*>(data) + at, length, MPI_BYTE, to, tag,
                      grid_.comm, &request),
            "MPI_Isend");
    traffic_->sent += length;
  }
  return message;
}

Message& Transfers::receive(void* data, std::int64_t bytes, int from, int tag) {
  Message& message = add();
  for (std::int64_t at = 0; at < bytes; at += part_bytes) {
    const int length = static_cast<int>(std::min(part_bytes, bytes - at));
    MPI_Request& request = message.parts_.emplace_back(MPI_REQUEST_NULL);
    require(MPI_Irecv(static_cast<std::byte*>(data) + at, length, MPI_BYTE, from, tag, grid_.comm,
                      &request),
            "MPI_Irecv");
    traffic_->received += length;
  }
  return message;
}

void Transfers::Waiting::check() const {
  int given_up = 0;
  MPI_Status status;
  require(MPI_Iprobe(MPI_ANY_SOURCE, Tag::gave_up, of_.grid_.comm, &given_up, &status),
          "MPI_Iprobe");
  if (given_up != 0) {
    throw CommunicationError("rank " + std::to_string(status.MPI_SOURCE) +
                             " gave up; its own error says why");
  }
  if (MPI_Wtime() - begin_ > of_.timeout_) {
    throw CommunicationError("rank " + std::to_string(of_.rank()) +
                             " waited for other ranks longer than the timeout of " +
                             seconds(of_.timeout_));
  }
}

Transfers::~Transfers() {
  if (finished_) return;
  grid_.failed = true;
  for (int rank = 0; rank < grid_.ranks; ++rank) {
    if (rank == grid_.rank) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    const int sent = MPI_Isend(nullptr, 0, MPI_BYTE, rank, Tag::gave_up, grid_.comm, &request);
    if (sent == MPI_SUCCESS) MPI_Request_free(&request);
  }
  for (auto& memory : memory_) static_cast<void>(memory.release());
}

}  // namespace rung::dist
