import TidemarkHub
import TidemarkModel
import TidemarkStore

/// Checks tokens and judges them by the revocations, as the product's loops do.
extension ServerNode {
    /// Keys may have to be fetched first; while faults strike, the fetch may fail.
    func verify(_ id: SessionID, _ token: String) {
        let isSlow = world.isChaotic && tokenRandom.chance(150)
        let lease = lease
        world.after(isSlow ? tokenRandom.within(500...8_000) : tokenRandom.within(0...3)) {
            guard lease.isHeld, let connection = self.connections[id] else { return }
            let isDown = self.world.isChaotic && self.tokenRandom.chance(100)
            let verdict = isDown ? .unavailable : self.verdict(on: token)
            if connection.issued == nil { connection.issued = verdict.issuedAt }
            self.advance(.verified(id, verdict))
            // The answer to a new token is still sent under the token before it.
            if let issued = verdict.issuedAt { connection.issued = issued }
            self.judge(id)
        }
    }

    private func verdict(on token: String) -> TokenVerdict {
        let verdict = Token.verdict(on: token, now: clock)
        guard case .accepted(let identity) = verdict else { return verdict }
        guard isBookRead else {
            followRevocations()
            return .unavailable
        }
        return book.judge(identity, .later).map { .revoked($0) } ?? verdict
    }

    /// Ends a connection whose token is revoked or expired; true when it does.
    @discardableResult
    func judge(_ id: SessionID) -> Bool {
        guard let connection = connections[id], let session = hub.session(id), let identity = session.identity else {
            return false
        }
        let device = connection.isNew ? DeviceClaim.unnamed : .named(session.client)
        guard let revoked = book.judge(identity, device) else { return false }
        advance(.tokenRevoked(id, revoked))
        return true
    }

    /// Reads new revocations and ends the connections that they concern.
    func followRevocations() {
        world.database.call(lease, { [world] _ in world.signOuts.rows }) { rows in
            guard let rows else { return }
            self.isBookRead = true
            let news = rows.dropFirst(self.revocationsKnown)
            for revocation in news { self.book.add(revocation) }
            self.revocationsKnown = max(self.revocationsKnown, rows.count)
            for revocation in news where self.isUp { self.advance(.revoked(revocation)) }
        }
    }

    /// Repeats that twice a second, as the product does.
    func keepFollowingRevocations() {
        guard world.signOuts.planned > 0 else { return isBookRead = true }
        followRevocations()
        let lease = lease
        world.after(500) { if lease.isHeld { self.keepFollowingRevocations() } }
    }
}

extension TokenVerdict {
    fileprivate var issuedAt: Milliseconds? {
        if case .accepted(let identity) = self { identity.issuedAt } else { nil }
    }
}
