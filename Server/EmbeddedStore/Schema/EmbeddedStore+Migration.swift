import Foundation
import GRDB
package import TidemarkStore

extension EmbeddedStore {
    /// Makes missing parts of this version's tables beside serving: one transaction after the other, between those of
    /// other callers. An interrupted run is continued by the next. See `Store/Generations/GENERATIONS.md`.
    ///
    /// - Parameters:
    ///   - isGentle: leaves other callers as much of the writer's time as it takes.
    ///   - report: receives the progress.
    package func migrate(
        _ extent: MigrationPlan.Extent = .all, isGentle: Bool = true,
        report: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
    ) async throws {
        let migrator = EmbeddedMigrator(generations: generations, rowsMax: backfillRows, report: report)
        let steps = try await onWriter { try migrator.missing(extent, afresh: true, $0) }
        for step in steps {
            report(.began(step: step.id, rows: nil))
            var isOver = false
            while !isOver {
                try Task.checkCancellation()
                let start = ContinuousClock.now
                isOver = try await onWriter { try migrator.advance(step, $0) }
                if isGentle, !isOver { try await ContinuousClock().sleep(for: ContinuousClock.now - start) }
            }
        }
    }

    /// Returns the steps that opening the file and `migrate` would do, without doing them, also while a server uses the
    /// file.
    ///
    /// - Throws: `StoreError` of kind `unavailable` when the file cannot be read, or is of a later version.
    package static func migrationPlan(
        _ extent: MigrationPlan.Extent, path: String, options: Options = Options()
    ) throws(StoreError) -> [PlanLine] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let migrator = EmbeddedMigrator(
            generations: options.generations, rowsMax: options.backfillRows, report: { _ in })
        do {
            var configuration = Configuration()
            configuration.readonly = true
            return try DatabaseQueue(path: path, configuration: configuration).read { try migrator.plan(extent, $0) }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.unavailable, "\(path): \(StoreError(sqlite: error).reason)")
        }
    }
}
