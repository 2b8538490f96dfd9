import TidemarkHub
import TidemarkModel
import TidemarkStore

/// Tokens are checked, and judged by what was revoked, as the product's loops do it.
extension ServerNode {
    /// Keys may have to be fetched first, and while faults happen there may be none.
    func verify(_ id: SessionID, _ token: String) {
        let isSlow = world.isChaotic && tokenRandom.chance(150)
        let lease = lease
        world.after(isSlow ? tokenRandom.within(500...8_000) : tokenRandom.within(0...3)) {
            guard lease.isHeld, let connection = self.connections[id] else { return }
            let isDown = self.world.isChaotic && self.tokenRandom.chance(100)
            let verdict = isDown ? .unavailable : self.verdict(on: token)
            if connection.issued == nil { connection.issued = verdict.issuedAt }
            self.advance(.verified(id, verdict))
            // What is answered to a fresh token still goes out under the one before.
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

    /// Ends a connection whose token counts no more; true where it does.
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

    /// Reads what was revoked, and ends the connections that it concerns.
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

    /// Twice a second, as the product looks.
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
