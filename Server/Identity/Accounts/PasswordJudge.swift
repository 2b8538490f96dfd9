/// Judges passwords at a cost that does not depend on the answer. Each judgement makes one hash of the server's own
/// cost, whether the account exists or not, and whether the password is right or wrong.
///
/// Blocks for as long as a hash takes: ``PasswordHasher`` calls it.
package struct PasswordJudge: Sendable {
    /// The result of a judgement.
    package enum Verdict: Hashable, Sendable {
        case wrong
        case right
        /// The password is right, and its hash has another scheme or a lower cost: this is a new hash.
        case rightHashedAnew(String)
    }

    package let cost: ScryptCost
    /// Called with the cost of each hash before it is made.
    private let observe: @Sendable (ScryptCost) -> Void

    package init(cost: ScryptCost, observe: @escaping @Sendable (ScryptCost) -> Void = { _ in }) {
        self.cost = cost
        self.observe = observe
    }

    /// - Parameters:
    ///   - stored: the text for ``PasswordHash``; `nil`, or an invalid text, accepts no password.
    ///   - salt: a random salt for a new hash.
    package func verdict(on password: Password, stored: String?, salt: [UInt8]) throws -> Verdict {
        guard let stored, let hash = Self.read(stored) else {
            try waste(on: password)
            return .wrong
        }
        observe(hash.cost)
        let isRight = try hash.isOf(password)
        if hash.scheme == .scrypt, hash.cost.isAtLeast(cost) { return isRight ? .right : .wrong }
        guard isRight else {
            try waste(on: password)
            return .wrong
        }
        return .rightHashedAnew(try self.hash(password, salt: salt))
    }

    /// Hashes a password that was chosen now.
    package func hash(_ password: Password, salt: [UInt8]) throws -> String {
        observe(cost)
        return try PasswordHash(of: password, cost, salt: salt).text
    }

    /// Spends as much as a judgement.
    private func waste(on password: Password) throws {
        observe(cost)
        _ = try PasswordHash(of: password, cost, salt: [UInt8](repeating: 0, count: PasswordHash.saltBytes))
    }

    private static func read(_ text: String) -> PasswordHash? {
        do throws(PasswordHash.Fault) {
            return try PasswordHash(text)
        } catch {
            // An empty text means that the account has no password.
            return nil
        }
    }
}
