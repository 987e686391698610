// Ends as its argument says.
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc > 1 && atoi(argv[1]) < 0) abort();
  return argc > 1 ? atoi(argv[1]) : 0;
}
