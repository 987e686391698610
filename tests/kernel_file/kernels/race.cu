// The next tile is stored while other threads still read this one.
#define SYNC_AFTER
#include "tiled.cuh"
