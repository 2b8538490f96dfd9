import TidemarkModel

@testable import Tidemark

/// The tokens of the app's sign-in service, and a user who signs in again.
extension Device {
    /// A new token; the last one again while the service has ended the session.
    var token: String {
        if world.now >= signedOutUntil { tokenIssued = world.now }
        return Token.issue(for: owner, issued: tokenIssued, expires: tokenIssued + world.plan.tokenLife)
    }

    /// The sign-in service ends the session; after `length` the user has signed in again.
    func endSignIn(for length: Milliseconds) { signedOutUntil = max(signedOutUntil, world.now + length) }

    /// The server reports that this device is signed out: the user sees it and signs in.
    func signInAgain() {
        later(signInRandom.within(500...8_000)) {
            guard !self.isInBackground else { return self.signInAgain() }
            self.feed(.start)
        }
    }
}
