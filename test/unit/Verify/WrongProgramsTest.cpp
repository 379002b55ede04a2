#include "ProveUtil.h"
