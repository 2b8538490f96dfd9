#pragma once

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
/* Debian keeps the header in a folder of its own, which pkg-config adds to the search path where it is installed. */
#include <postgresql/libpq-fe.h>
#endif
