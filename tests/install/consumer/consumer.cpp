#include <cstdio>
#include <rung/rung.hpp>
#include <vector>

int main() {
  const std::vector<double> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::vector<double> c(4);
  rung::gemm(rung::row_major(a.data(), 2, 2), rung::row_major(b.data(), 2, 2),
             rung::row_major(c.data(), 2, 2));
  try {
    rung::dot(a, {});
    return 1;
  } catch (const rung::Error& error) {
    if (error.code() != rung::Status::invalid_argument) return 1;
  }
  std::printf("rung %s: %g %g %g %g, %g\n", rung::version.data(), c[0], c[1], c[2], c[3],
              rung::dot(a, b));
}
