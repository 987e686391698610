#pragma once
// The messages of one call. All messages are sent and counted here. A wait ends when another rank
// fails or the timeout expires.

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "rung/dist_plan.hpp"

namespace rung::dist {

/// Pieces of panels may overtake each other, so each one that may be in flight has its own tag. MPI
/// guarantees tags up to 32767.
enum Tag : int { gave_up = 0, move_a = 1, move_b = 2, sum_c = 3, panel_a = 8, panel_b = 16384 };
inline constexpr std::int64_t panel_tags = 16000;

/// A message in flight, in parts whose sizes MPI can represent.
class Message {
 public:
  bool done();

 private:
  friend class Transfers;
  std::vector<MPI_Request> parts_;
};

class Transfers {
 public:
  Transfers(Grid::State& grid, double timeout) : grid_(grid), timeout_(timeout) {}
  /// If the call fails, notifies the other ranks and leaks the memory that messages in flight still
  /// use.
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  int rank() const;
  /// Allocates memory for messages, which is freed at the end of the call.
  std::byte* allocate(std::int64_t bytes);

  Message& send(const void* data, std::int64_t bytes, int to, int tag);
  Message& receive(void* data, std::int64_t bytes, int from, int tag);
  /// Calls `done` until it returns true. Throws CommunicationError.
  template <class Done>
  void wait(const Done& done) {
    if (done()) return;
    const Waiting waiting(*this);
    while (!done()) waiting.check();
  }
  void wait(Message& message) {
    wait([&] { return message.done(); });
  }
  /// Between begin() and finish(), messages are in flight. A call starts with begin().
  void begin() { finished_ = false; }
  void finish() { finished_ = true; }

  /// Selects the counter for subsequent bytes.
  void count(Traffic& traffic) { traffic_ = &traffic; }

 private:
  class Waiting {
   public:
    explicit Waiting(Transfers& of) : of_(of), begin_(MPI_Wtime()) {}
    void check() const;

   private:
    Transfers& of_;
    double begin_;
  };

  Message& add();

  Grid::State& grid_;
  double timeout_;
  Traffic unread_;
  Traffic* traffic_ = &unread_;
  bool finished_ = false;
  std::deque<Message> messages_;  // deque, for stable addresses
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
};

/// Throws CommunicationError with MPI's error text if `result` is not MPI_SUCCESS.
void require(int result, const char* what);

}  // namespace rung::dist
