#pragma once
// An operand surrounded by guard zones that detect out-of-bounds accesses.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/call.hpp"
#include "core/element_types.hpp"
#include "core/random.hpp"

namespace rung {

/// rows x cols elements of one type, with `ld` elements from the start of a row to the next. Guards
/// precede the first row, follow the last and, if ld leaves room, separate rows. They hold a fixed
/// bit pattern (NaN for floating-point types) that a kernel must neither change nor propagate to
/// its result. Under AddressSanitizer, reading an outer guard is an error, too.
///
/// Memory is reserved but not touched: rows that are gigabytes apart cost only the pages that they
/// use.
class Operand {
 public:
  /// The elements have the input type of the dtype. The first element is `offset` elements after a
  /// 64-byte boundary. Throws std::invalid_argument for a negative size or for ld < cols with more
  /// than one row, std::length_error if the size in bytes does not fit in 63 bits, and
  /// std::bad_alloc.
  Operand(Dtype type, std::int64_t rows, std::int64_t cols, std::int64_t ld, int offset);

  void* data() const { return data_; }
  /// The whole page-aligned allocation, including guards. Under AddressSanitizer it excludes the
  /// outer guards.
  Storage storage() const;
  Dtype type() const { return type_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t ld() const { return ld_; }

  /// Sets element (row, col) to random_element(values, seed, row * cols + col), with a single NaN
  /// or infinity if `values` asks for it. Restores the guards.
  void fill(Values values, std::uint64_t seed);
  /// Sets every element to the guard pattern. Restores the guards.
  void poison();

  /// Sets one row to the guard pattern. is_poisoned() returns true if every element of the row
  /// still has it.
  void poison_row(std::int64_t row);
  bool is_poisoned(std::int64_t row) const;

  /// A hash of all elements.
  std::uint64_t fingerprint() const;
  /// Empty if every guard is intact, otherwise the position of the first overwrite, such as "2 past
  /// the end of row 3".
  std::optional<std::string> broken_guard() const;

 private:
  struct Unmap {
    std::size_t bytes, guard_before, guard_after;
    void operator()(void* mapped) const;
    void set_readable(void* mapped, bool readable) const;  // for AddressSanitizer
  };

  template <class F>
  void for_each_guard(F f) const;
  template <class T, class F>
  void for_each_element(std::int64_t first, std::int64_t last, const F& f) const;
  void write_guards();
  void set_guards_readable(bool readable) const;

  Dtype type_;
  std::int64_t rows_, cols_, ld_;
  std::unique_ptr<void, Unmap> mapped_;
  void* data_;
};

}  // namespace rung
