#pragma once
#include "../../Foundation/Foundation.hpp"
