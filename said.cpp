#include "by.h"
const char *said() { return "from C++"; }
