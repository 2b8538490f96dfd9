extension SyncEffect {
    /// True for a write of what the server sent, or its confirmation, whose answer the machine waits for.
    var isAnsweredWrite: Bool {
        switch self {
        case .applyWelcome, .applyChanges, .applyPage, .applyPages, .applyHistory, .applyComparison, .dropComparison,
            .confirm:
            true
        case .open, .close, .send, .sendEphemeral, .loadHistory, .historyEnded, .loadComparison, .loadPush, .loadPages,
            .fork, .withhold,
            .releaseWithheld, .refreshToken, .wake, .heard, .status, .pushPaused, .roundEnded, .collectionRoundEnded:
            false
        }
    }

    /// Returns the effects with the frames, or the pages, of messages that arrived together as one step for the disk.
    ///
    /// A frame may be applied before the effects between it and the frame before it if these only read, report or send.
    /// It is not moved before a write.
    static func gathering(_ effects: [SyncEffect]) -> [SyncEffect] {
        var gathered: [SyncEffect] = []
        /// The index of the frames, or of the pages, that the next one can join.
        var joinable: Int?
        for effect in effects {
            switch effect {
            case .applyChanges(let frames):
                if let joinable, case .applyChanges(let before) = gathered[joinable] {
                    gathered[joinable] = .applyChanges(before + frames)
                    continue
                }
                joinable = gathered.count
            case .applyPages(let pages):
                if let joinable, case .applyPages(let before) = gathered[joinable] {
                    gathered[joinable] = .applyPages(before + pages)
                    continue
                }
                joinable = gathered.count
            case .confirm, .send, .sendEphemeral, .loadPush, .loadPages, .heard, .pushPaused, .wake: break
            case .open, .close, .applyWelcome, .applyPage, .applyHistory, .loadHistory, .historyEnded,
                .loadComparison, .applyComparison, .dropComparison, .fork, .withhold,
                .releaseWithheld, .refreshToken, .status, .roundEnded, .collectionRoundEnded:
                joinable = nil
            }
            gathered.append(effect)
        }
        return gathered
    }
}
