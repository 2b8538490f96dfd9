#pragma once

#include <sqlite3.h>

/* Swift cannot call functions with a variable number of arguments. */
static inline int sqlite_leave_memory_uncounted(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
