#pragma once
#include "../../Metal/Metal.hpp"
