// Launches a kernel 300 times, twice with a race, leaks its memory, forks a child that ends by _exit,
// and ends itself by the call that its argument names.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

__global__ void add_one(int* sum, bool race) {
  if (threadIdx.x == 0 || race) *sum += threadIdx.x + 1;
}

int main(int, char** arguments) {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  for (int i = 1; i <= 300; ++i) add_one<<<1, 64>>>(sum, i == 100 || i == 102);
  cudaDeviceSynchronize();
  const pid_t child = fork();
  if (child == 0) _exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WEXITSTATUS(status) + 1;
  if (std::strcmp(arguments[1], "_exit") == 0) _exit(code);
  if (std::strcmp(arguments[1], "_Exit") == 0) std::_Exit(code);
  if (std::strcmp(arguments[1], "quick_exit") == 0) std::quick_exit(code);
  std::exit(code);
}
