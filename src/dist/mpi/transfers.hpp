#pragma once
// Messages of one call: the only place that sends them, and so where bytes are counted. A wait ends
// when the other rank fails or the time is over.

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "rung/dist.hpp"

namespace rung::dist {

/// Parts of panels overtake each other, so each of those that may be on their way has a tag of its
/// own. MPI promises tags up to 32767.
enum Tag : int { gave_up = 0, move_a = 1, move_b = 2, sum_c = 3, panel_a = 8, panel_b = 16384 };
inline constexpr std::int64_t panel_tags = 16000;

/// A message on its way, in parts that MPI can count.
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
  /// If the call fails, tells the other ranks, and leaves the memory to the messages that are still
  /// on their way in it.
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  int rank() const;
  /// Memory for messages, until the call ends.
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
  /// Between these two, messages are on their way; the call begins with begin().
  void begin() { finished_ = false; }
  void finish() { finished_ = true; }

  /// Where bytes are counted from now on.
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
  std::deque<Message> messages_;  // at stable addresses
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
};

/// Throws CommunicationError with MPI's text for a result that is not MPI_SUCCESS.
void require(int result, const char* what);

}  // namespace rung::dist
