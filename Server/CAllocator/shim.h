#pragma once

#ifdef __linux__
/* The module map of Glibc does not have it. */
#include <malloc.h>
#endif
