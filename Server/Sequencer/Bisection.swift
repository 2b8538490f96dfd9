import TidemarkModel

/// Finds what the store refuses in a group of submissions, so that the rest of it still gets through: a pure machine.
///
/// It starts with the whole group as one piece. A piece that the store refuses, or that takes too long, is halved by
/// clients, then split into single transactions. A single transaction that is refused is tried once more, then planned
/// as refused.
package struct Bisection: Sendable {
    /// The content of one batch.
    struct Piece: Sendable {
        fileprivate struct Part: Sendable {
            /// The index of its submission in the group.
            let index: Int
            let submission: Submission
        }

        fileprivate let parts: [Part]
        fileprivate var isRepeated = false
        /// True when every entry is to be planned as refused.
        fileprivate(set) var refuses = false

        var submissions: [Submission] { parts.map(\.submission) }
    }

    /// The reaction to a piece that the store refused.
    package enum Remedy: Hashable, Sendable {
        case halve
        case singleOut
        case repeatOnce
        case refuse
        /// Not even the refusal could be stored: the outcome is `unavailable`.
        case giveUp
    }

    /// The remaining pieces; the last one is next.
    private var pieces: [Piece]
    private var found: [PushOutcome?]

    init(_ submissions: [Submission]) {
        found = Array(repeating: nil, count: submissions.count)
        let whole = Piece(parts: submissions.enumerated().map { Piece.Part(index: $0, submission: $1) })
        pieces = submissions.isEmpty ? [] : [whole]
    }

    /// One outcome for each submission, in their order; an undecided one is `unavailable`.
    var outcomes: [PushOutcome] { found.map { $0 ?? .unavailable } }

    /// Returns the piece to commit next; `nil` at the end.
    mutating func next() -> Piece? {
        while let piece = pieces.popLast() {
            // A submission ends at its first entry that is not settled: the entries after it are skipped.
            let open = piece.parts.filter { found[$0.index]?.isSettled ?? true }
            if open.count == piece.parts.count { return piece }
            if !open.isEmpty { return Piece(parts: open, isRepeated: piece.isRepeated, refuses: piece.refuses) }
        }
        return nil
    }

    /// Records that the piece was committed, with these outcomes of its submissions.
    ///
    /// - Parameter left: the rest that did not fit, by index in the piece; it comes next.
    mutating func committed(_ piece: Piece, _ outcomes: [PushOutcome], left: [Int: Submission] = [:]) {
        for (part, outcome) in zip(piece.parts, outcomes) {
            found[part.index] = found[part.index]?.followed(by: outcome) ?? outcome
        }
        guard !left.isEmpty else { return }
        let rest = piece.parts.indices.compactMap { index in
            left[index].map { Piece.Part(index: piece.parts[index].index, submission: $0) }
        }
        pieces.append(Piece(parts: rest, refuses: piece.refuses))
    }

    /// Puts the piece back as the next one, after the store was unavailable.
    mutating func postponed(_ piece: Piece) { pieces.append(piece) }

    /// Divides a piece that took too long: a smaller one may not.
    ///
    /// - Returns: false when it cannot be divided; nothing is changed then.
    mutating func tookTooLong(_ piece: Piece) -> Bool { divide(piece) != nil }

    /// Reacts to a piece whose values the store refused.
    mutating func refused(_ piece: Piece) -> Remedy {
        if let remedy = divide(piece) { return remedy }
        guard !piece.refuses else {
            committed(piece, Array(repeating: .unavailable, count: piece.parts.count))
            return .giveUp
        }
        pieces.append(Piece(parts: piece.parts, isRepeated: true, refuses: piece.isRepeated))
        return piece.isRepeated ? .refuse : .repeatOnce
    }

    private mutating func divide(_ piece: Piece) -> Remedy? {
        var order: [ClientID] = []
        for part in piece.parts where !order.contains(part.submission.client) { order.append(part.submission.client) }
        if order.count > 1 {
            let first = Set(order.prefix(order.count / 2))
            pieces.append(Piece(parts: piece.parts.filter { !first.contains($0.submission.client) }))
            pieces.append(Piece(parts: piece.parts.filter { first.contains($0.submission.client) }))
            return .halve
        }
        if piece.parts.reduce(0, { $0 + $1.submission.entries.count }) > 1 {
            for part in piece.parts.reversed() {
                for single in part.submission.singles.reversed() {
                    pieces.append(Piece(parts: [Piece.Part(index: part.index, submission: single)]))
                }
            }
            return .singleOut
        }
        return nil
    }

    /// Gives up on everything that is undecided.
    mutating func abandon(_ piece: Piece) {
        pieces = []
        for part in piece.parts { found[part.index] = .unavailable }
    }
}
