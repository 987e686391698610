#pragma once
#include "QuartzCore/QuartzCore.hpp"
