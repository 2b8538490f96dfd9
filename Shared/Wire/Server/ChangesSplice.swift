package import TidemarkModel

/// Builds a `changes` frame from rows that are bytes already: each change is encoded once, however many clients get it.
package struct ChangesSplice {
    private var writer: JSONWriter
    private var groups = 0

    package init(
        from: String, cursor: String, time: Milliseconds, isLive: Bool, isConsistent: Bool, capacity: Int = 512
    ) {
        writer = JSONWriter(capacity: capacity)
        writer.literal("{\"t\":\"changes\",\"base\":")
        writer.string(from)
        writer.literal(",\"cur\":")
        writer.string(cursor)
        writer.literal(",\"ts\":")
        writer.integer(time)
        if isLive { writer.literal(",\"live\":true") } else { writer.literal(",\"live\":false") }
        if isConsistent { writer.literal(",\"done\":true") } else { writer.literal(",\"done\":false") }
    }

    /// Appends the rows of one scope, comma-separated.
    package mutating func group(_ scope: ScopeID, rows: [UInt8]) {
        if groups == 0 { writer.literal(",\"g\":[") } else { writer.byte(UInt8(ascii: ",")) }
        groups += 1
        writer.literal("{\"s\":")
        writer.string(scope.text)
        writer.literal(",\"r\":[")
        writer.raw(rows)
        writer.literal("]}")
    }

    /// Closes the frame and returns its bytes. Once only; `consuming`, which would say so, copies them.
    package mutating func finish(
        settled: Settled? = nil, grants: [Changes.GrantChange] = [], durable: SequenceNumber? = nil
    ) -> [UInt8] {
        if groups > 0 { writer.byte(UInt8(ascii: "]")) }
        if let settled {
            writer.literal(",\"you\":")
            settled.write(to: &writer)
        }
        if !grants.isEmpty {
            writer.literal(",\"acl\":")
            writer.array(grants) { $1.write(to: &$0) }
        }
        if let durable {
            writer.literal(",\"durable\":")
            writer.integer(durable)
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}

extension Changes.GrantChange {
    func write(to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        writer.string(scope.text)
        writer.byte(UInt8(ascii: ","))
        writer.integer(since)
        writer.byte(UInt8(ascii: ","))
        if let role { writer.string(role.rawValue) } else { writer.literal("null") }
        writer.byte(UInt8(ascii: "]"))
    }
}
