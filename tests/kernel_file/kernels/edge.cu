// Rows behind the last one are loaded, too.
#define ROWS_GUARD row <= m
#include "tiled.cuh"
