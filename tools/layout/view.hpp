#pragma once
// A layout as it is shown: the elements of a matrix in shared memory, in registers, or both.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/layout.hpp"

namespace rung::layout {

/// Consecutive elements in shared memory.
struct Cell {
  std::vector<int> at;  // of the first element, in the order in which it is printed
  std::uint32_t address, bytes;
};

struct View {
  std::string title;
  std::vector<std::string> notes;
  std::vector<std::string> axes;  // names of the coordinates: "row", "column"

  // In shared memory.
  std::vector<Cell> cells;
  int element_bits = 0;
  std::size_t along = 0;  // the coordinate along which the elements of a cell are consecutive

  // In registers.
  std::optional<vgpu::layout::Fragment> fragment;
};

/// The words for a fragment's threads and registers: "lane" or "thread", "register" or "column" of tensor memory.
const char* thread_word(const vgpu::layout::Fragment& fragment);
const char* register_word(const vgpu::layout::Fragment& fragment);

/// Where an element is, one line for each place. Throws std::invalid_argument if the matrix has no
/// such element.
std::vector<std::string> where_is(const View& view, const std::vector<int>& at);
/// The element at a byte of shared memory.
std::string at_byte(const View& view, std::uint32_t byte);
/// The elements of a thread's register, or of all its registers, a line each.
std::vector<std::string> in_thread(const View& view, int thread, std::optional<int> reg);

/// Lines of 128 bytes, or rows of the matrix, up to 80 characters wide. Shows the first `rows` of
/// them, and as many columns as fit, or all of both if `rows` is 0.
std::string table(const View& view, int rows);

/// {"title", "notes", "axes", "memory": [{"at", "byte", "bytes"}], "registers": [{"at", "thread",
/// "register", "index"}]}, without the list that the view has not.
std::string json_of(const View& view);

/// An SVG file. Draws at most 64 lines or rows, and 32 columns of registers.
std::string picture(const View& view);

}  // namespace rung::layout
