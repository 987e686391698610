#pragma once
// The exercises of `rung learn`: data, one folder of exercises/ each, embedded in the program.
//
// exercise.txt has a statement a line, and a line that begins with two blanks continues the one
// before it:
//
//   title: A tile in shared memory
//   rung: gemm/cuda/02_shared_tile            (the solution in plain form)
//   kernel: gemm                              (what it computes: kernel_form.hpp)
//   sizes: 1x1x1 33x31x29                     (verified; for vectors N)
//   counted: 128x128x64                       (goals are counted there)
//   goal: global_loads_per_fma <= 0.0625      (metrics.hpp)
//   picture: tile                             (picture.hpp)
//   caption: …                                (what to see in it)
//   hint race: …                              (for what was found first; the next one says more)
//
// solution.cu is the solution; what a learner is to write lies between `//@ todo: …` and `//@ end`,
// and lines that begin with `//@ | ` stand there for a start. attempts.txt has edits of the
// solution that are wrong or slow, each with the finding that it must get:
//
// Those of Metal are in exercises/metal/, with solution.metal.
//
//   attempt race: the barrier before the next tile is missing
//   <<<
//       __syncthreads();  // all reads are done
//   ===
//   >>>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rung::learn {

/// Of a vector, n alone.
struct Size {
  int m = 1, n = 1, k = 1;
};

struct Goal {
  std::string metric;
  bool at_most = true;  // otherwise at least
  double bound = 0;
};

struct Hint {
  std::string when;  // the key of a finding
  std::string text;
};

enum class Language { cuda, metal };

struct Exercise {
  Language language = Language::cuda;
  std::string number, slug, title;  // "04", "shared_tile"
  std::string rung;
  std::string kernel;
  std::vector<Size> sizes;
  Size counted;
  std::vector<Goal> goals;
  std::vector<Hint> hints;
  std::string picture, caption;
  std::string_view solution;

  /// "exercises/metal/04_shared_tile"
  std::string folder() const;
  /// Of its files: ".metal"
  const char* suffix() const { return language == Language::metal ? ".metal" : ".cu"; }

  /// What its own hints are for, each once: first what is wrong, then goals in their order.
  std::vector<std::string> hinted() const;
  /// The hints for a finding, in the order in which they are told: its own, then those that all
  /// exercises have for it.
  std::vector<std::string> hints_for(std::string_view finding) const;
};

/// In order. Throws std::invalid_argument if the data is bad, which a test excludes.
const std::vector<Exercise>& exercises(Language language = Language::cuda);

/// By its number, with or without a leading zero, or by its slug; null if there is none.
const Exercise* find_exercise(std::string_view name, Language language = Language::cuda);

/// The file to start from: the solution without what is to be written.
std::string start_text(const Exercise& exercise);
/// The solution without marks.
std::string solution_text(const Exercise& exercise);
/// The same, line by line, but what a learner is to write is "…".
std::string covered_solution(const Exercise& exercise);

/// The task: the comment that the solution begins with. A paragraph with indented lines is a drawing,
/// or a list.
struct Paragraph {
  std::string text;  // lines, without "// "
  bool is_drawn = false;
};
std::vector<Paragraph> task(const Exercise& exercise);

/// A wrong or slow edit of the solution.
struct Attempt {
  std::string finding;  // that it must get
  std::string title;
  std::string text;  // of the edited solution
};
/// Throws std::invalid_argument for an edit whose text is not exactly once in the solution.
std::vector<Attempt> attempts(const Exercise& exercise);

/// A file of exercises/ or a header that they include, by its path; empty if there is none.
std::string_view embedded_file(std::string_view path);
/// The headers, by the paths that #include gives.
struct Header {
  std::string_view path, text;
};
std::vector<Header> headers();

/// "33x31x29", or "1000" where m and k are 1 and `is_vector`.
std::string to_string(const Size& size, bool is_vector);

}  // namespace rung::learn
