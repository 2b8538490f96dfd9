import CSQLite

/// Keeps SQLite from counting the memory that it takes: it does so under one lock of the process, for figures that nothing here
/// reads, and the embedded store takes 4 % more writes without.
///
/// The first thing that a program does. SQLite refuses it once it is in use, and then goes on counting.
package func leaveSQLiteMemoryUncounted() {
    let code = sqlite_leave_memory_uncounted()
    assert(code == SQLITE_OK, "SQLite was in use before the program began: \(code)")
}
