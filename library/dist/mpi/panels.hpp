#pragma once
// Panels of SUMMA: each is passed along a ring of ranks, starting with its owner, while earlier
// panels are multiplied. Van de Geijn and Watts, "SUMMA: scalable universal matrix multiplication
// algorithm" (Concurrency: Pract. Exper. 9, 1997).

#include <algorithm>
#include <array>
#include <vector>

#include "library/dist/mpi/transfers.hpp"
#include "library/dist/mpi/views.hpp"
#include "library/dist/plan/axis.hpp"

namespace rung::dist {

/// The panels of A along a row of the grid or, transposed, of B along a column. Keeps two: one that
/// is being multiplied, and the next one, which is arriving.
template <class Memory, class T>
class Panels {
 public:
  /// k: the distribution of k-indices over the ring. local: this rank's lines, with one column for
  /// each of its k-indices, in `memory`.
  Panels(Transfers& transfers, Memory& memory, int first_tag, const Axis& k, std::vector<int> ring,
         int me, const MatrixView<const T>& local, std::int64_t width)
      : transfers_(transfers),
        memory_(memory),
        first_tag_(first_tag),
        k_(k),
        ring_(std::move(ring)),
        me_(me),
        local_(local),
        width_(width) {
    if (!alone()) {
      for (Slot& slot : slots_) {
        slot.buffer = memory_.template for_messages<T>(lines() * width_);
        if (Memory::needs_room(local_)) {
          slot.room = memory_.template for_messages<T>(lines() * width_);
        }
      }
    }
  }

  /// True if the previous panel in this panel's buffer has been sent.
  bool may_start(std::int64_t panel) {
    std::vector<Message*>& leaving = slot(panel).leaving;
    std::erase_if(leaving, [](Message* message) { return message->done(); });
    return leaving.empty() && slot(panel).arrived.is_free();
  }

  void start(std::int64_t panel) {
    Slot& to = slot(panel);
    to.begin = panel * width_;
    to.width = std::min(width_, k_.extent - to.begin);
    to.pieces.clear();
    if (alone()) return;
    for (std::int64_t at = to.begin; at < to.begin + to.width;) {
      const std::int64_t block_left = k_.block - (at + k_.skipped) % k_.block;
      const std::int64_t length = std::min(block_left, to.begin + to.width - at);
      start(to, at, length);
      at += length;
    }
  }

  /// Forwards data that has arrived.
  void progress() {
    for (Slot& at : slots_) {
      for (Piece& piece : at.pieces) {
        if (piece.is_here || !has_arrived(piece)) continue;
        piece.is_here = true;
        if (next() != piece.owner) pass_on(at, piece);
      }
    }
  }

  bool is_here(std::int64_t panel) {
    return std::ranges::all_of(slot(panel).pieces, &Piece::is_here);
  }

  /// The panel as a view of lines x k-indices, in the memory from which products read it.
  MatrixView<const T> view(std::int64_t panel) {
    Slot& at = slot(panel);
    if (alone()) return columns(local_, at.begin, at.width);
    return at.arrived.view(memory_, panel, at.buffer, lines(), at.width);
  }

 private:
  struct Piece {
    int owner;
    int tag;
    T* data;
    std::int64_t bytes;
    Message* arriving = nullptr;  // null: copied from local memory
    typename Memory::template Copying<T> copying = {};
    bool is_here = false;
  };

  struct Slot {
    T* buffer = nullptr;
    T* room = nullptr;  // a second buffer, if copies need it
    typename Memory::template Arrived<T> arrived = {};
    std::int64_t begin = 0, width = 0;
    std::vector<Piece> pieces;
    std::vector<Message*> leaving;
  };

  bool alone() const { return k_.procs == 1; }
  std::int64_t lines() const { return local_.rows; }
  int next() const { return (me_ + 1) % k_.procs; }
  int rank(int proc) const { return ring_[static_cast<std::size_t>(proc)]; }
  Slot& slot(std::int64_t panel) { return slots_[static_cast<std::size_t>(panel % 2)]; }

  static bool has_arrived(Piece& piece) {
    return piece.arriving != nullptr ? piece.arriving->done() : piece.copying.done();
  }

  void start(Slot& to, std::int64_t index, std::int64_t length) {
    const Position at = position(k_, index);
    const int tag = first_tag_ + static_cast<int>(sequence_++ % panel_tags);
    to.pieces.push_back({at.proc, tag, to.buffer + (index - to.begin) * lines(),
                         length * lines() * std::int64_t{sizeof(T)}});
    Piece& piece = to.pieces.back();
    if (at.proc == me_) {
      T* const room = to.room == nullptr ? nullptr : to.room + (piece.data - to.buffer);
      piece.copying = memory_.copy_out(columns(local_, at.local, length), piece.data, room);
    } else {
      const int previous = rank((me_ + k_.procs - 1) % k_.procs);
      piece.arriving = &transfers_.receive(piece.data, piece.bytes, previous, tag);
    }
  }

  void pass_on(Slot& from, const Piece& piece) {
    from.leaving.push_back(&transfers_.send(piece.data, piece.bytes, rank(next()), piece.tag));
  }

  Transfers& transfers_;
  Memory& memory_;
  int first_tag_;
  Axis k_;
  std::vector<int> ring_;
  int me_;
  MatrixView<const T> local_;
  std::int64_t width_;
  std::int64_t sequence_ = 0;
  std::array<Slot, 2> slots_;
};

}  // namespace rung::dist
