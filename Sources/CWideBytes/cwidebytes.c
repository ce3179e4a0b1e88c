#include "cwidebytes.h"
