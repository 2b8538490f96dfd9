#pragma once

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
/* Debian keeps the header in a folder of its own, which only pkg-config would add to the search path. */
#include <postgresql/libpq-fe.h>
#endif

#ifdef __linux__
/* The module map of Glibc has neither of these. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif
