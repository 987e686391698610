// The rows of A are taken to be contiguous.
#define A_ROW k
#include "tiled.cuh"
