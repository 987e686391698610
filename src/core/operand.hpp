#pragma once
// An operand between guard zones, which detect out-of-bounds accesses.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "core/random.hpp"

namespace rung {

/// rows x cols elements of one type, each row `ld` elements after the previous one. Guards are
/// before the first row, after the last and, if ld leaves room, between rows: a fixed bit pattern,
/// NaN for floating-point types, that a kernel must neither change nor propagate to its result.
/// Under AddressSanitizer the outer guards must not even be read.
///
/// Memory is reserved but not touched: rows that are gigabytes apart cost only their own pages.
class Operand {
 public:
  /// The elements have the input type of the dtype. The first element is `offset` elements past a
  /// 64-byte boundary. Throws std::invalid_argument for a negative size or ld < cols (with more
  /// than one row), std::length_error if the size in bytes exceeds 63 bits, and std::bad_alloc.
  Operand(Dtype type, std::int64_t rows, std::int64_t cols, std::int64_t ld, int offset);

  void* data() const { return data_; }
  /// The whole memory, guards included; it begins at a page. Without the outer guards under
  /// AddressSanitizer.
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

  /// The same for one row. is_poisoned(): whether every element of it still has the pattern.
  void poison_row(std::int64_t row);
  bool is_poisoned(std::int64_t row) const;

  /// A hash of all elements.
  std::uint64_t fingerprint() const;
  /// Empty if every guard is unchanged, otherwise where it was overwritten: "2 past the end of row
  /// 3".
  std::optional<std::string> broken_guard() const;

 private:
  struct Unmap {
    std::size_t bytes, guard_before, guard_after;
    void operator()(void* mapped) const;
    void set_readable(void* mapped, bool readable) const;  // as AddressSanitizer sees the guards
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
