#pragma once
#include "objc/objc.h"
