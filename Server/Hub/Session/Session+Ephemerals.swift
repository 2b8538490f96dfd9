package import TidemarkModel
package import TidemarkWire

extension Session {
    /// What a client said since the last look.
    package struct OutgoingEphemerals: Hashable, Sendable {
        /// With the sender's name.
        package var messages: [Ephemeral] = []
        /// Those that were over a bound, or for a scope that the user does not hold.
        package var dropped = 0

        /// Neither said nor dropped anything.
        package var isEmpty: Bool { messages.isEmpty && dropped == 0 }
    }

    /// `eph`: bounds and access; what does not pass is dropped and nothing is answered.
    ///
    /// Only a live session knows its grants as of the process's tail: one that catches up may hold a grant that has ended.
    mutating func say(_ message: Ephemeral, now: Milliseconds) {
        guard let user = identity?.principal.user, ephemeralBucket.take(1, now: now) == nil, isLive, !isDraining,
            grants[message.scope] != nil, context.limits.ephemeral.allow(message)
        else { return outgoing.dropped += 1 }
        var message = message
        message.user = user
        outgoing.messages.append(message)
    }

    /// Hands over what the client said.
    package mutating func takeOutgoing() -> OutgoingEphemerals {
        guard !outgoing.isEmpty else { return outgoing }
        defer { outgoing = OutgoingEphemerals() }
        return outgoing
    }

    /// Something was said in a scope. False when this client does not get it: it did not ask for such messages, does not
    /// hold the scope, or is behind; these messages wait for nobody and are not counted by the window.
    package mutating func hear(_ frame: Frame, in scope: ScopeID, into effects: inout [SessionEffect]) -> Bool {
        guard takesEphemerals, isLive, !outbound.isFull(context.limits), grants[scope] != nil,
            window.hasRoom(for: frame.bytes.count, limits: context.limits)
        else { return false }
        give(frame, into: &effects)
        return true
    }
}
