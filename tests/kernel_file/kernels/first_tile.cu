// The first tile of k is left out.
#define FIRST_K tile
#include "tiled.cuh"
