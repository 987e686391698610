#pragma once
// Moves a matrix from one placement to another. A message contains everything that one rank sends
// to another, column by column, in ascending order of the matrix's indices on both sides.

#include <vector>

#include "library/dist/mpi/transfers.hpp"
#include "library/dist/mpi/views.hpp"
#include "library/dist/plan/schedule.hpp"

namespace rung::dist {

template <class T>
class Move {
 public:
  /// Starts to send and to receive. The view of a placement is empty on ranks outside of it.
  Move(Transfers& transfers, int tag, const Placement& from, const MatrixView<const T>& source,
       const Placement& to, const MatrixView<T>& target)
      : transfers_(transfers), target_(target) {
    const int rank = transfers.rank();
    if (to.has(rank)) receive(tag, from, to);
    if (from.has(rank)) send(tag, from, source, to);
  }

  /// Waits for all data, then calls store(target element, received element) for each.
  template <class Store>
  void finish(const Store& store) {
    for (const Part& part : incoming_) {
      if (part.message != nullptr) transfers_.wait(*part.message);
      const T* next = part.data;
      for_each(part.rows, part.cols, &Run::to, [&](std::int64_t row, std::int64_t col) {
        store(element(target_, row, col), *next++);
      });
    }
    for (Message* message : outgoing_) transfers_.wait(*message);
  }

 private:
  struct Part {
    std::vector<Run> rows, cols;
    T* data;
    Message* message;  // null for data that stays on this rank
  };

  template <class Visit>
  static void for_each(const std::vector<Run>& row_runs, const std::vector<Run>& col_runs,
                       std::int64_t Run::* side, const Visit& visit) {
    for (const Run& cols : col_runs) {
      for (std::int64_t col = cols.*side; col < cols.*side + cols.length; ++col) {
        for (const Run& rows : row_runs) {
          for (std::int64_t row = rows.*side; row < rows.*side + rows.length; ++row) {
            visit(row, col);
          }
        }
      }
    }
  }

  // Calls visit(other rank, runs of rows, runs of columns, elements) for each rank with shared
  // elements.
  template <class Visit>
  static void for_each_partner(const Placement& other, const std::vector<std::vector<Run>>& rows,
                               const std::vector<std::vector<Run>>& cols, const Visit& visit) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t c = 0; c < cols.size(); ++c) {
        const std::int64_t elements = total(rows[r]) * total(cols[c]);
        if (elements == 0) continue;
        visit(other.rank_of(static_cast<int>(r), static_cast<int>(c)), rows[r], cols[c], elements);
      }
    }
  }

  T* allocate(std::int64_t elements) {
    return reinterpret_cast<T*>(transfers_.allocate(elements * std::int64_t{sizeof(T)}));
  }

  void receive(int tag, const Placement& from, const Placement& to) {
    const int rank = transfers_.rank();
    const auto rows = runs_to(from.layout.rows, to.layout.rows, to.row_proc(rank));
    const auto cols = runs_to(from.layout.cols, to.layout.cols, to.col_proc(rank));
    for_each_partner(from, rows, cols,
                     [&](int partner, const std::vector<Run>& row_runs,
                         const std::vector<Run>& col_runs, std::int64_t elements) {
                       T* data = allocate(elements);
                       Message* message = nullptr;
                       if (partner == rank) {
                         own_ = data;
                       } else {
                         message = &transfers_.receive(data, elements * std::int64_t{sizeof(T)},
                                                       partner, tag);
                       }
                       incoming_.push_back({row_runs, col_runs, data, message});
                     });
  }

  void send(int tag, const Placement& from, const MatrixView<const T>& source,
            const Placement& to) {
    const int rank = transfers_.rank();
    const auto rows = runs_from(from.layout.rows, from.row_proc(rank), to.layout.rows);
    const auto cols = runs_from(from.layout.cols, from.col_proc(rank), to.layout.cols);
    for_each_partner(
        to, rows, cols,
        [&](int partner, const std::vector<Run>& row_runs, const std::vector<Run>& col_runs,
            std::int64_t elements) {
          T* data = partner == rank ? own_ : allocate(elements);
          T* next = data;
          for_each(row_runs, col_runs, &Run::from, [&](std::int64_t row, std::int64_t col) {
            *next++ = element(source, row, col);
          });
          if (partner == rank) return;
          outgoing_.push_back(
              &transfers_.send(data, elements * std::int64_t{sizeof(T)}, partner, tag));
        });
  }

  Transfers& transfers_;
  MatrixView<T> target_;
  std::vector<Part> incoming_;
  std::vector<Message*> outgoing_;
  T* own_ = nullptr;
};

}  // namespace rung::dist
