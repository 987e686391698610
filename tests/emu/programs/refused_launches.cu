// Launches that cannot be, by a program that does not ask.
__global__ void k() {}

int main() {
  k<<<0, 32>>>();
  k<<<1, 2048>>>();
  k<<<1, 32>>>();
}
