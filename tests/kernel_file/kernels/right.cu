#include "tiled.cuh"
