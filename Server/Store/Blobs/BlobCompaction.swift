package import TidemarkModel

/// Deletes the blobs of a workspace that nothing names, in steps (R-67; COMPACTION.md, "Blobs").
///
///     var compaction = BlobCompaction(of: workspace, spans, records: store, blobs: blobs)
///     repeat { all = all + (try await compaction.step(now: now())) } while !all.isDone
///
/// Its state between two steps is in memory alone: after a crash the next run begins again with the stored stages.
package struct BlobCompaction: Sendable {
    private enum Work {
        case look
        case scan(BlobScan)
        case move([DueBlob], to: BlobStage, then: [DueBlob])
        case take([DueBlob])
    }

    private let workspace: WorkspaceID
    private let spans: BlobSpans
    private let records: any Compacting
    private let blobs: any BlobCompacting
    /// The maximum number of rows in one stretch of a scope, and of blobs in one step that moves them.
    private let limit: Int
    private var work: [Work] = [.look]

    package init(
        of workspace: WorkspaceID, _ spans: BlobSpans, records: any Compacting, blobs: any BlobCompacting,
        limit: Int = 500
    ) {
        self.workspace = workspace
        self.spans = spans
        self.records = records
        self.blobs = blobs
        self.limit = max(1, limit)
    }

    /// Makes one call of a store, or two. The caller repeats it until the step is done.
    ///
    /// - Parameters:
    ///   - now: the time at which stages are judged.
    ///   - stamp: the beginning of new stages; `nil` for `now`. Never earlier than `now`, so that no stage is shorter.
    package mutating func step(
        now: Milliseconds, stamp: Milliseconds? = nil
    ) async throws(StoreError) -> BlobCompactionStep {
        var step = BlobCompactionStep(isDone: false)
        // A step that fails makes the next one start over.
        let next = work.popLast() ?? .look
        let rest = work
        work = [.look]
        switch next {
        case .look:
            let due = try await blobs.dueBlobs(of: workspace, spans.due(at: now))
            if due.isEmpty { step.isDone = true } else { work = [.scan(BlobScan(for: due))] }
            return step
        case .scan(var scan):
            if let question = scan.question() {
                scan.take(try await records.blobNames(question, in: workspace, limit: limit))
                work = [.scan(scan)]
            } else {
                work = judged(scan.verdict, now: stamp ?? now)
            }
            return step
        case .move(let some, let stage, let found):
            let count = try await blobs.move(some, to: stage, of: workspace)
            switch stage {
            case .needed: break
            case .unnamed: step.unnamed = count
            case .withdrawn: step.withdrawn = count
            }
            work =
                rest
                + (found.isEmpty
                    ? [] : [.move(Array(found.prefix(limit)), to: stage, then: Array(found.dropFirst(limit)))])
        case .take(let found):
            let some = found.fitting(.stepMax)
            step.taken = try await blobs.take(Array(some), of: workspace)
            work = rest + (some.count < found.count ? [.take(Array(found.dropFirst(some.count)))] : [])
        }
        if work.isEmpty { work = [.look] }
        return step
    }

    /// Returns the work that the verdict requires.
    private func judged(_ verdict: (named: [DueBlob], unnamed: [DueBlob]), now: Milliseconds) -> [Work] {
        var moves: [BlobStage: [DueBlob]] = [.needed(since: now): verdict.named]
        var last: [DueBlob] = []
        for blob in verdict.unnamed {
            if let stage = blob.stage.next(at: now) {
                moves[stage, default: []].append(blob)
            } else {
                last.append(blob)
            }
        }
        let work = moves.filter { !$0.value.isEmpty }.sorted { $0.key.stored < $1.key.stored }.map { stage, found in
            Work.move(Array(found.prefix(limit)), to: stage, then: Array(found.dropFirst(limit)))
        }
        return (last.isEmpty ? [] : [.take(last)]) + work
    }
}

/// The result of one step.
package struct BlobCompactionStep: Hashable, Sendable {
    /// The blobs found to be named nowhere.
    package var unnamed = 0
    /// The blobs that can no longer be read.
    package var withdrawn = 0
    /// The deleted blobs.
    package var taken = BlobUsage()
    /// True when nothing is due.
    package var isDone: Bool

    package init(isDone: Bool) { self.isDone = isDone }

    /// True when a blob was moved towards deletion or deleted.
    package var didSomething: Bool { unnamed + withdrawn + taken.blobs > 0 }

    /// Returns the sum of both steps; done when the later one is.
    package static func + (earlier: BlobCompactionStep, later: BlobCompactionStep) -> BlobCompactionStep {
        var sum = BlobCompactionStep(isDone: later.isDone)
        sum.unnamed = earlier.unnamed + later.unnamed
        sum.withdrawn = earlier.withdrawn + later.withdrawn
        sum.taken = BlobUsage(
            blobs: earlier.taken.blobs + later.taken.blobs, bytes: earlier.taken.bytes + later.taken.bytes)
        return sum
    }
}

extension [DueBlob] {
    /// Returns the first blobs that one step may delete; at least one.
    fileprivate func fitting(_ most: BlobUsage) -> ArraySlice<DueBlob> {
        var bytes: Int64 = 0
        let count = prefix(most.blobs).prefix { blob in
            bytes += blob.bytes
            return bytes <= most.bytes
        }.count
        return prefix(Swift.max(1, count))
    }
}
