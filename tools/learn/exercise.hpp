#pragma once
// The exercises of `rung learn`: data files, embedded in the program. Each exercise is a folder in
// exercises/.
//
// exercise.txt has one statement per line. A line indented by two spaces continues the line before:
//
//   title: A tile in shared memory
//   rung: gemm/cuda/02_shared_tile            (the rung that the solution simplifies)
//   kernel: gemm                              (its operation and parameters, see kernel_form.hpp)
//   target: sm_100a                           (of CUDA; sm_90a if it is not given)
//   sizes: 1x1x1 33x31x29                     (to verify; N for vectors)
//   counted: 128x128x64                       (for measuring goals)
//   goal: global_loads_per_fma <= 0.0625      (metrics.hpp)
//   picture: tile                             (picture.hpp)
//   caption: …                                (of the picture)
//   hint race: …                              (for the first finding; later hints say more)
//   hint race/two_writers: …                  (if this is its cause; hints for any race follow)
//   hint wrong race/blocks: …                 (for both)
//
// solution.cu is the solution. The part that a learner writes is between `//@ todo: …` and
// `//@ end`; lines in it that begin with `//@ | ` are its initial text. The files of a Metal exercise
// are in exercises/metal/, with solution.metal. attempts.txt has modifications of the solution that
// are wrong or slow, each with the finding expected for it:
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

/// The size of a problem; only n for vectors.
struct Size {
  int m = 1, n = 1, k = 1;

  bool operator==(const Size&) const = default;
};

struct Goal {
  std::string metric;
  bool at_most = true;  // otherwise at least
  double bound = 0;
};

struct Hint {
  std::string when;  // key of a finding
  std::string text;
};

enum class Language { cuda, metal };

struct Exercise {
  Language language = Language::cuda;
  std::string number, slug, title;  // "04", "shared_tile"
  std::string rung;
  std::string kernel;
  std::string target = "sm_90a";  // of CUDA; sm_100a runs on a virtual B200
  std::vector<Size> sizes;
  Size counted;
  std::vector<Goal> goals;
  std::vector<Hint> hints;
  std::string picture, caption;
  std::string_view solution;

  /// The folder: "exercises/metal/04_shared_tile"
  std::string folder() const;
  /// The suffix of its files: ".metal"
  const char* suffix() const { return language == Language::metal ? ".metal" : ".cu"; }

  /// The findings for which the exercise has hints of its own, each once: errors first, then goals
  /// in their order.
  std::vector<std::string> hinted() const;
  /// The hints for a finding, in the order in which they are shown: the exercise's own for its
  /// cause, those shared by all exercises, then the exercise's own for all findings of its kind.
  std::vector<std::string> hints_for(std::string_view finding) const;
};

/// All exercises in order. Throws std::invalid_argument if the data is malformed, which a test
/// rules out.
const std::vector<Exercise>& exercises(Language language = Language::cuda);

/// Finds an exercise by its number, with or without a leading zero, or by its slug; null if not
/// found.
const Exercise* find_exercise(std::string_view name, Language language = Language::cuda);

/// The initial file for the learner: the solution without the parts to be written.
std::string start_text(const Exercise& exercise);
/// The solution without markers.
std::string solution_text(const Exercise& exercise);
/// The solution with the parts to be written replaced by "…".
std::string covered_solution(const Exercise& exercise);

/// A paragraph of the task, the comment at the beginning of the solution. Indented lines are a
/// drawing or a list.
struct Paragraph {
  std::string text;  // lines without "// "
  bool is_drawn = false;
};
std::vector<Paragraph> task(const Exercise& exercise);

/// A wrong or slow modification of the solution.
struct Attempt {
  std::string finding;  // the finding expected for it
  std::string title;
  std::string text;  // of the modified solution
};
/// Throws std::invalid_argument if a replaced text does not occur exactly once in the solution.
std::vector<Attempt> attempts(const Exercise& exercise);

/// A file of exercises/, or a header that it includes, by path; empty if not found.
std::string_view embedded_file(std::string_view path);
/// A header, by the path in #include directives.
struct Header {
  std::string_view path, text;
};
std::vector<Header> headers();

/// "33x31x29", or "1000" if `is_vector`.
std::string to_string(const Size& size, bool is_vector);

}  // namespace rung::learn
