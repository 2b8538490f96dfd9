package import TidemarkModel

/// The parts of a client's scopes that a welcome lists completely, among as many as `hello` had digests.
package struct ListedParts: Hashable, Sendable {
    /// The number of parts.
    package var count: Int
    /// The indices of the listed parts, ascending.
    package var listed: [Int]

    package init(count: Int, listed: [Int]) {
        self.count = count
        self.listed = listed
    }

    static func read(_ reader: inout JSONReader) throws -> ListedParts {
        var parts = ListedParts(count: 0, listed: [])
        try reader.object { reader, key in
            switch key {
            case "of": parts.count = Int(clamping: try MessageReader.count(&reader))
            case "in": try reader.array { parts.listed.append(Int(clamping: try MessageReader.count(&$0))) }
            default: try reader.skip()
            }
        }
        guard (1...ScopeDigests.partsMax).contains(parts.count), parts.listed.allSatisfy({ $0 < parts.count }) else {
            throw reader.failure("parts that do not exist")
        }
        return parts
    }

    func write(to writer: inout JSONWriter) {
        writer.integer("{\"of\":", Int64(count))
        writer.array(",\"in\":", listed) { $0.integer(Int64($1)) }
        writer.byte(UInt8(ascii: "}"))
    }
}

extension Welcome {
    /// A scope that a client holds, with the role that it knows.
    package typealias Holding = (scope: HeldScope, role: Role)

    /// Returns the welcome with `keep`, `purge` and `roles` filled in, for a client that sent digests of its scopes.
    ///
    /// in a listed part the client holds the scopes of the list under the same grant, and nothing else. All other
    /// parts stay as the client has them.
    ///
    /// - Parameter holdings: the scopes of which the digests were made.
    package func resolved(for holdings: [Holding]) -> Welcome {
        guard let parts else { return self }
        var welcome = self
        welcome.parts = nil
        let isKept = cursorState != .none && cursorState != .resync
        // A grant of the lost history may have the number of another grant in this one.
        let sinceMax = rewind?.to ?? .max
        let listed = Set(parts.listed)
        var lacking = Dictionary(added.map { ($0.scope, $0) }, uniquingKeysWith: { first, _ in first })
        for (held, role) in holdings {
            let isListed = listed.contains(ScopeDigests.part(of: held.scope, among: parts.count))
            let grant = lacking[held.scope]
            guard isKept, !isListed || grant?.since == held.since && held.since <= sinceMax else {
                welcome.purged.append(held.scope)
                continue
            }
            welcome.kept.append(held)
            lacking[held.scope] = nil
            if let grant, grant.role != role { welcome.roles.append(grant) }
        }
        welcome.added = added.filter { lacking[$0.scope] != nil }
        return welcome
    }
}
