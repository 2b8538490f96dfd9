package import TidemarkModel

/// Takes the blobs of a workspace away that nothing names, by steps (R-67; COMPACTION.md, "Blobs").
///
///     var compaction = BlobCompaction(of: workspace, spans, records: store, blobs: blobs)
///     repeat { all = all + (try await compaction.step(now: now())) } while !all.isDone
///
/// What it knows between two steps is in memory alone: after a kill the next one begins again with the stages as they are stored.
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
    /// Rows of one stretch of a scope, and blobs of one step that moves them.
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

    /// One call of a store, or two. To be made until it says that it is done.
    ///
    /// - Parameters:
    ///   - now: the time by which stages are old enough.
    ///   - stamp: the time at which a stage begins; `nil` for the same. Never earlier, so that no stage is shorter.
    package mutating func step(
        now: Milliseconds, stamp: Milliseconds? = nil
    ) async throws(StoreError) -> BlobCompactionStep {
        var step = BlobCompactionStep(isDone: false)
        // What fails begins again at the start.
        let next = work.popLast() ?? .look
        let rest = work
        work = [.look]
        switch next {
        case .look:
            if try await blobs.isSharedWithOlder() {
                step.isDone = try await blobs.keepAll(of: workspace, now: stamp ?? now, limit: limit) == 0
                return step
            }
            let due = try await blobs.dueBlobs(of: workspace, spans.due(at: now))
            if due.isEmpty { step.isDone = true } else { work = [.scan(BlobScan(for: due))] }
            return step
        case .scan(var scan):
            if let question = scan.question() {
                scan.take(try await records.blobNames(question, in: workspace, limit: limit))
                work = [.scan(scan)]
            } else {
                work = try await judged(scan.verdict, now: stamp ?? now)
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

    /// What is to be done with what was found. Nothing, when a node that renews nothing has come meanwhile.
    private func judged(
        _ verdict: (named: [DueBlob], unnamed: [DueBlob]), now: Milliseconds
    ) async throws(StoreError) -> [Work] {
        guard try await !blobs.isSharedWithOlder() else { return [.look] }
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

/// What one step did.
package struct BlobCompactionStep: Hashable, Sendable {
    /// Found to be named nowhere.
    package var unnamed = 0
    /// Not to be read any more.
    package var withdrawn = 0
    /// Gone.
    package var taken = BlobUsage()
    /// Nothing is due.
    package var isDone: Bool

    package init(isDone: Bool) { self.isDone = isDone }

    /// More than that something is still named.
    package var didSomething: Bool { unnamed + withdrawn + taken.blobs > 0 }

    /// Both together; done when the later is.
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
    /// The first ones that one step may take away; one always.
    fileprivate func fitting(_ most: BlobUsage) -> ArraySlice<DueBlob> {
        var bytes: Int64 = 0
        let count = prefix(most.blobs).prefix { blob in
            bytes += blob.bytes
            return bytes <= most.bytes
        }.count
        return prefix(Swift.max(1, count))
    }
}
