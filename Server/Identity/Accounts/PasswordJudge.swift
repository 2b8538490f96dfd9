/// Judges passwords, at a price that does not depend on the answer: each judgement makes one hash of the server's own cost, be
/// there an account or none, be the password right or wrong.
///
/// Blocks for as long as a hash takes: ``PasswordHasher`` is where it is called.
package struct PasswordJudge: Sendable {
    /// What a password was found to be.
    package enum Verdict: Hashable, Sendable {
        case wrong
        case right
        /// It is right, and its hash is of another scheme or of a lower cost: here is another.
        case rightHashedAnew(String)
    }

    package let cost: ScryptCost
    /// Told of each hash before it is made.
    private let observe: @Sendable (ScryptCost) -> Void

    package init(cost: ScryptCost, observe: @escaping @Sendable (ScryptCost) -> Void = { _ in }) {
        self.cost = cost
        self.observe = observe
    }

    /// - Parameters:
    ///   - stored: as ``PasswordHash`` reads it; `nil`, or what does not read, is nobody's password.
    ///   - salt: for another hash, random.
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

    /// Of a password that was chosen now.
    package func hash(_ password: Password, salt: [UInt8]) throws -> String {
        observe(cost)
        return try PasswordHash(of: password, cost, salt: salt).text
    }

    /// Costs as much as an answer.
    private func waste(on password: Password) throws {
        observe(cost)
        _ = try PasswordHash(of: password, cost, salt: [UInt8](repeating: 0, count: PasswordHash.saltBytes))
    }

    private static func read(_ text: String) -> PasswordHash? {
        do throws(PasswordHash.Fault) {
            return try PasswordHash(text)
        } catch {
            // An empty one stands for an account without a password.
            return nil
        }
    }
}
