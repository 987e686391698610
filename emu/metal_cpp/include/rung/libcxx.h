#pragma once
// Headers that others include in libc++, for which programs are written on macOS, but not in
// libstdc++. rung-metal includes this file in front of each source.

#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
#endif
