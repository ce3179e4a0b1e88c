// Header only: see include/cplatform.h.
#include "cplatform.h"
