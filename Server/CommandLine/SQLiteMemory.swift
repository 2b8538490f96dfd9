import CSQLite

/// Keeps SQLite from counting its memory: it does so under one lock of the process, for figures that nothing here
/// reads. Without them the embedded store accepts 4 % more writes.
///
/// A program calls this first: once SQLite is in use it refuses, and goes on counting.
package func leaveSQLiteMemoryUncounted() {
    let code = sqlite_leave_memory_uncounted()
    assert(code == SQLITE_OK, "SQLite was in use before the program began: \(code)")
}
