#pragma once

#include <stddef.h>

/* The one function beside malloc itself, which the rest of jemalloc's header would declare a second time. */
int mallctl(const char *name, void *old, size_t *old_length, void *new_value, size_t new_length);
