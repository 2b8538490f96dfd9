import TidemarkEmbeddedStore
package import TidemarkOperations
import TidemarkStore

/// A backup of one kind of store, restored into the other: row by row. See `Operations/Rows/ROWS.md`.
extension Restore {
    /// Refuses a backup that this version does not read. Rows are carried into the other kind of store only from tables
    /// of this version: whatever others lack, or have besides, would be lost.
    ///
    /// - Parameter own: another generation than this version's, for tests.
    package static func checkGeneration(
        _ folder: BackupFolder, of target: BackupManifest.Store, own: Int? = nil
    ) throws {
        let manifest = folder.manifest
        let state = manifest.state
        let read = try manifest.store == .sqlite ? EmbeddedSnapshot.check(state) : checkPostgres(state)
        let own = own ?? read
        guard manifest.store != target, manifest.generation != own else { return }
        let (kind, other) = (manifest.store.name, target.name)
        guard manifest.generation < own else {
            throw BackupError(
                .unusable,
                "\(folder.path) is of a later version of tidemark (its tables are of generation \(manifest.generation), and"
                    + " this version knows \(own)): restore it with that version")
        }
        throw BackupError(
            .unusable,
            "\(folder.path) was made of tables of generation \(manifest.generation), and only those of \(own) go from"
                + " \(kind) to \(other). Restore it into \(kind) first, run 'tidemark migrate' and 'tidemark backup' there,"
                + " and restore that backup into \(other)")
    }

    /// Carries all rows from a source into a sink, and compares what is there then.
    static func transfer(
        from source: some RowSource, to sink: some RowSink & RowSource, verifies: Bool, _ progress: Occasionally
    ) throws {
        let sums = try RowTransfer.copy(from: source, to: sink) { progress.tell("copied \($0) rows, now of \($1)") }
        guard verifies else { return }
        try RowTransfer.compare(sums, with: sink) { progress.tell("compared \($0) rows, now of \($1)") }
    }
}
