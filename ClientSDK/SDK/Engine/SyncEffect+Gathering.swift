extension SyncEffect {
    /// A write of what came from the server, or its confirmation, on whose answer the machine waits.
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

    /// The same with the frames, or the pages, of messages that came together as one step for the disk.
    ///
    /// A frame may be applied before what stands between it and the frame before: that is something to be read, told or
    /// sent. What is written is not passed.
    static func gathering(_ effects: [SyncEffect]) -> [SyncEffect] {
        var gathered: [SyncEffect] = []
        /// The index of the frames, or of the pages, that the next one can join.
        var place: Int?
        for effect in effects {
            switch effect {
            case .applyChanges(let frames):
                if let place, case .applyChanges(let before) = gathered[place] {
                    gathered[place] = .applyChanges(before + frames)
                    continue
                }
                place = gathered.count
            case .applyPages(let pages):
                if let place, case .applyPages(let before) = gathered[place] {
                    gathered[place] = .applyPages(before + pages)
                    continue
                }
                place = gathered.count
            case .confirm, .send, .sendEphemeral, .loadPush, .loadPages, .heard, .pushPaused, .wake: break
            case .open, .close, .applyWelcome, .applyPage, .applyHistory, .loadHistory, .historyEnded,
                .loadComparison, .applyComparison, .dropComparison, .fork, .withhold,
                .releaseWithheld, .refreshToken, .status, .roundEnded, .collectionRoundEnded:
                place = nil
            }
            gathered.append(effect)
        }
        return gathered
    }
}
