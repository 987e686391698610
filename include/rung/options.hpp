#pragma once
// What a caller may choose beyond the problem itself. Name the fields, as in {.threads = 1}: later
// versions add some, each with a default that keeps today's meaning.

namespace rung {

struct GemmOptions {
  /// The most threads to use, the calling one included. 0: the processors that this process may
  /// run on. Small problems use fewer.
  int threads = 0;
};

enum class DotMode {
  /// As fast as memory allows; the order of the sum, and so its last bits, may change with the
  /// machine, the number of threads and the length.
  fast,
  /// As if summed in twice the precision and rounded once, whatever the number of threads: Dot2 of
  /// Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005).
  /// |result - exact| <= u |exact| + gamma(n)^2 |x| . |y|, u the unit roundoff of the result type.
  compensated,
};

struct DotOptions {
  /// As in GemmOptions.
  int threads = 0;
  DotMode mode = DotMode::fast;
};

}  // namespace rung
