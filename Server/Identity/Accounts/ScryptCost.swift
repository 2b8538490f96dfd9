import Crypto
import CryptoExtras
import Foundation

/// The cost of one hash by scrypt: memory of `128 · 2^log2N · r` bytes, and `p` times the work of filling it.
package struct ScryptCost: Hashable, Sendable {
    /// The cost that OWASP recommends: 128 MiB.
    package static let usual = ScryptCost(unchecked: 17, 8, 1)
    /// The most memory of one hash.
    static let bytesMax = 256 << 20
    /// The greatest product of memory and `p`.
    static let workMax = 512 << 20

    /// `log2 N`.
    package let rounds: Int
    /// `r`.
    package let blockSize: Int
    /// `p`.
    package let parallelism: Int

    /// Makes a cost; `nil` if it is out of bounds: the parameters may be from a file, and they decide the memory.
    package init?(rounds: Int, blockSize: Int = 8, parallelism: Int = 1) {
        guard (1...20).contains(rounds), (1...32).contains(blockSize), (1...16).contains(parallelism) else {
            return nil
        }
        let bytes = 128 << rounds * blockSize
        // N must be below 2^(16 r).
        guard bytes <= Self.bytesMax, bytes * parallelism <= Self.workMax, rounds < 16 * blockSize else { return nil }
        self.init(unchecked: rounds, blockSize, parallelism)
    }

    private init(unchecked rounds: Int, _ blockSize: Int, _ parallelism: Int) {
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// Whether a hash of this cost is at least as expensive as one of another, in memory and in work.
    func isAtLeast(_ other: ScryptCost) -> Bool {
        rounds >= other.rounds && blockSize >= other.blockSize
            && (blockSize << rounds) * parallelism >= (other.blockSize << other.rounds) * other.parallelism
    }

    /// Computes a hash. Blocks for as long as it takes; never call it on an event loop.
    ///
    /// - Parameters:
    ///   - password: at least one byte.
    ///   - salt: at least one byte.
    func hash(_ password: [UInt8], salt: [UInt8], count: Int) throws -> [UInt8] {
        let key = try KDF.Scrypt.deriveKey(
            from: password, salt: salt, outputByteCount: count, rounds: 1 << rounds, blockSize: blockSize,
            parallelism: parallelism)
        return key.withUnsafeBytes { Array($0) }
    }
}
