// beta is taken for 1 wherever it is not 0.
#define OLD_C (beta == 0 ? 0 : C[row * ldc + col])
#include "tiled.cuh"
