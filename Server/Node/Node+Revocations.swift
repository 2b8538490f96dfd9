import Logging
package import TidemarkHub
import TidemarkLock
package import TidemarkModel
package import TidemarkStore
import TidemarkTelemetry

/// The revocations that this node knows. Any thread.
package final class Revocations: Sendable {
    private struct State {
        var book = RevocationBook()
        var isRead = false
    }

    private let state = Lock(State())
    /// The gate of reads: one at a time, because each begins at the end of the one before.
    fileprivate let gate = ReadGate(permits: 1)

    var through: Int64 { state.withLock { $0.book.through } }
    /// True when everything that was revoked before this node began is known.
    fileprivate var isRead: Bool { state.withLock { $0.isRead } }
    fileprivate func beRead() { state.withLock { $0.isRead = true } }

    fileprivate func readAgain() { state.withLock { $0.book.readAgain() } }

    fileprivate func add(_ revocations: [Revocation], now: Milliseconds) {
        state.withLock { state in
            for revocation in revocations { state.book.add(revocation) }
            state.book.forget(before: now - Revocation.keptFor)
        }
    }

    /// Returns the revocation that applies to a token; `nil` if none does.
    package func judge(_ identity: Identity, _ device: DeviceClaim) -> RevokedToken? {
        state.withLock { $0.book.judge(identity, device) }
    }

    /// Whether the user's device must be proven to be theirs.
    package func asksForDevice(_ identity: Identity) -> Bool { state.withLock { $0.book.asksForDevice(identity) } }

    func revokedDevices(of user: UserID, in workspace: WorkspaceID) -> Int {
        state.withLock { $0.book.revokedDevices(of: user, in: workspace) }
    }

    /// Returns the time from which a device's tokens are valid; `nil` if none are revoked.
    package func notBefore(of client: ClientID, user: UserID, in workspace: WorkspaceID) -> Milliseconds? {
        state.withLock { $0.book.notBefore(of: client, user: user, in: workspace) }
    }
}

/// Revocations: kept in the store, sent to the other nodes, carried out on every loop.
extension Node {
    private static let revocationsPerRead = 1_000
    /// Devices of one user whose revocation is still kept.
    private static let revokedDevicesMax = 200

    /// Whether a user may revoke one more device: each takes room on every node for a month.
    package func mayRevokeDevice(of user: UserID, in workspace: WorkspaceID) -> Bool {
        revocations.revokedDevices(of: user, in: workspace) < Self.revokedDevicesMax
    }

    /// Returns the user of a client; `nil` if the client does not exist.
    package func owner(of client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> UserID? {
        try await operating.owner(of: client, in: workspace)
    }

    /// Whether this node knows everything that was revoked before it began. Needs the store once.
    package func knowsRevocations() async -> Bool {
        if !revocations.isRead { await followRevocations() }
        return revocations.isRead
    }

    /// Returns the user and workspace of a token, unless the token was revoked. Needs the store once, at the node's
    /// start.
    ///
    /// - Parameter peer: the peer's address, for the log.
    package func verdict(on token: String, of peer: String?) async -> TokenVerdict {
        let verdict = await parts.verify(token, peer)
        guard case .accepted(let identity) = verdict else { return verdict }
        guard await knowsRevocations() else { return .unavailable }
        guard let revoked = revocations.judge(identity, .later) else { return verdict }
        metrics.tokensRefused.count("revoked")
        parts.telemetry.security.note(.token, "revoked", peer: peer)
        return .revoked(revoked)
    }

    /// Revokes the tokens of a workspace, a user or a device that were issued until now: here at once, on the
    /// other nodes within a second.
    package func revoke(
        _ subject: Revocation.Subject, in workspace: WorkspaceID
    ) async throws(StoreError) -> Revocation {
        // Issuers write whole seconds: a token of this second is revoked too, even in the second's first millisecond.
        let time = now()
        let revocation = try await operating.revoke(subject, before: time + 1, in: workspace, now: time)
        logger.notice(
            "Tokens were revoked",
            metadata: [
                "workspace": "\(workspace)", "kind": "\(subject.kind)", "name": "\(subject.name)",
                "not_before": "\(revocation.notBefore)",
            ])
        if parts.isStoreShared { parts.relay.tell(RevocationWord(number: revocation.number).line) }
        await followRevocations()
        return revocation
    }

    /// Handles the notice that another node has revoked something.
    func follow(_ word: RevocationWord) {
        guard word.number != revocations.through else { return }
        _ = background.start { [self] in await followRevocations() }
    }

    /// Reads the revocations that are not known here, and ends the connections that they concern.
    func followRevocations() async {
        do throws(StoreError) {
            try await revocations.gate.pass { () async throws(StoreError) in
                while true {
                    let page = try await operating.revocations(
                        after: revocations.through, limit: Self.revocationsPerRead)
                    guard page.last >= revocations.through else {
                        revocations.readAgain()
                        continue
                    }
                    let news = page.revocations
                    // Add them before sessions end: a session that begins in between is judged by them.
                    revocations.add(news, now: forgetting.now)
                    for inbox in inboxes.values { for revocation in news { inbox.post(.revoked(revocation)) } }
                    for workspace in Set(news.map(\.workspace)) { feeds[workspace]?.wakeAll() }
                    if news.count < Self.revocationsPerRead { break }
                }
                revocations.beRead()
            }
        } catch {
            // A node that stops cancels this read: nothing to report.
            guard !Task.isCancelled else { return }
            logger.warning("Could not look for revoked tokens", metadata: ["error": "\(error)"])
        }
    }
}

/// A message between nodes: a revocation with this number exists. `{"rev":12}`; older nodes do not know this message.
struct RevocationWord {
    var number: Int64

    init(number: Int64) { self.number = number }

    /// Parses a line; `nil` for another kind of message.
    init?(_ line: String) {
        var number: Int64?
        do {
            try JSONReader.read(Array(line.utf8)) { reader in
                try reader.object { reader, key in
                    if key == "rev" { number = try reader.integer() } else { try reader.skip() }
                }
            }
        } catch {
            return nil
        }
        guard let number else { return nil }
        self.number = number
    }

    var line: String { "{\"rev\":\(number)}" }
}
