import TidemarkLock
import TidemarkModel
import TidemarkNode
import TidemarkSequencer

extension Node {
    /// Submits the pieces of one push to the sequencer and waits for the outcome of all of them.
    func settle(_ pieces: [Submission], in workspace: WorkspaceID) async -> PushOutcome {
        await withCheckedContinuation { continuation in
            let pending = PendingOutcomes(count: pieces.count) { continuation.resume(returning: $0) }
            for (index, piece) in pieces.enumerated() {
                let note = noting(piece, in: workspace) { pending.set($0, at: index) }
                commits.submit(piece, in: workspace, completion: note)
            }
        }
    }
}

/// The outcomes of a push's pieces, which may arrive on any thread.
private final class PendingOutcomes: Sendable {
    private let outcomes: Lock<[PushOutcome?]>
    private let finish: @Sendable (PushOutcome) -> Void

    init(count: Int, finish: @escaping @Sendable (PushOutcome) -> Void) {
        outcomes = Lock(Array(repeating: nil, count: count))
        self.finish = finish
    }

    func set(_ outcome: PushOutcome, at index: Int) {
        let whole = outcomes.withLock { outcomes -> PushOutcome? in
            guard outcomes.indices.contains(index) else { return nil }
            outcomes[index] = outcome
            let known = outcomes.compactMap(\.self)
            guard known.count == outcomes.count, let first = known.first else { return nil }
            return known.dropFirst().reduce(first) { $0.followed(by: $1) }
        }
        if let whole { finish(whole) }
    }
}
