import TidemarkModel

@testable import Tidemark

/// What the app's sign-in service gives, and a person who signs in again.
extension Device {
    /// A fresh one, or the last one again while the service has ended the session.
    var token: String {
        if world.now >= signedOutUntil { tokenIssued = world.now }
        return Token.issue(for: owner, issued: tokenIssued, expires: tokenIssued + world.plan.tokenLife)
    }

    /// The sign-in service has ended the session; after that a person has signed in again.
    func endSignIn(for length: Milliseconds) { signedOutUntil = max(signedOutUntil, world.now + length) }

    /// The server says that this device is signed out: a person sees it, and signs in.
    func signInAgain() {
        later(signInRandom.within(500...8_000)) {
            guard !self.isInBackground else { return self.signInAgain() }
            self.feed(.start)
        }
    }
}
