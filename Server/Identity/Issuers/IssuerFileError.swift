/// The fault of a file of issuers, and its line.
package struct IssuerFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let line: Int
    /// The fault, beginning with the member: `issuers[0].audience: …`.
    package let reason: String

    package var description: String { "line \(line): \(reason)" }
}

/// An error at a byte of the file, before its line is counted.
struct Misplaced: Error {
    let offset: Int
    let reason: String

    init(_ value: LocatedJSON, _ reason: String) {
        offset = value.offset
        self.reason = reason
    }

    init(offset: Int, _ reason: String) {
        self.offset = offset
        self.reason = reason
    }

    func located(in bytes: [UInt8]) -> IssuerFileError {
        let line = bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
        return IssuerFileError(line: line, reason: reason)
    }
}
