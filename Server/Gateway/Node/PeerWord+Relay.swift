import Logging
import TidemarkModel
import TidemarkSession
import TidemarkWire

/// A word between machines as it travels between nodes: `{"w":"…","eph":{…}}`, the message as the clients get it.
struct RelayedWord {
    var workspace: WorkspaceID
    var word: PeerWord

    init(_ word: PeerWord, in workspace: WorkspaceID) {
        self.word = word
        self.workspace = workspace
    }

    /// `nil` for what is not of this form.
    init?(_ line: String) {
        var workspace: WorkspaceID?
        var word: PeerWord?
        do {
            try JSONReader.read(Array(line.utf8)) { reader in
                try reader.object { reader, key in
                    switch key {
                    case "w": workspace = WorkspaceID(checking: try reader.string())
                    case "eph":
                        let bytes = try reader.raw()
                        guard case .ephemeral(let message) = try ServerMessage.decode(bytes) else { return }
                        word = .ephemeral(message.scope, Frame(bytes))
                    default: try reader.skip()
                    }
                }
            }
        } catch {
            return nil
        }
        guard let workspace, let word else { return nil }
        self.init(word, in: workspace)
    }

    var line: String {
        var writer = JSONWriter(capacity: 256)
        writer.literal("{\"w\":")
        writer.string(workspace.text)
        switch word {
        case .ephemeral(_, let frame):
            writer.literal(",\"eph\":")
            writer.raw(frame.bytes)
        }
        writer.byte(UInt8(ascii: "}"))
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension Node {
    /// Passes a word of one loop's machine on to the others, and to the other nodes.
    func tell(_ word: PeerWord, in workspace: WorkspaceID, from sender: LoopInbox) {
        for inbox in inboxes.values where inbox !== sender { inbox.post(.heard(workspace, word)) }
        guard parts.isStoreShared else { return }
        parts.relay.tell(RelayedWord(word, in: workspace).line)
    }

    /// A word of another node, for all loops. A workspace that nobody here asked for is none of this node's business.
    func heard(_ line: String) {
        guard let relayed = RelayedWord(line) else { return logger.debug("a word of another node does not read") }
        guard feeds[relayed.workspace] != nil else { return }
        for inbox in inboxes.values { inbox.post(.heard(relayed.workspace, relayed.word)) }
    }
}
