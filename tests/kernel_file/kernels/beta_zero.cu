// C is read although beta is 0: NaN times 0 is NaN.
#define OLD_C beta* C[row * ldc + col]
#include "tiled.cuh"
