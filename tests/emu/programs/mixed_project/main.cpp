#include <cstdio>

int answer();

int main() { std::printf("%d\n", answer()); }
