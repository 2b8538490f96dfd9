package import TidemarkModel
package import TidemarkStore

/// The reason why a device is stuck, as far as the server knows: one story, and one sentence at its end. Pure.
package struct DeviceStory: Hashable, Sendable {
    /// The possible answers; the first one that applies, in this order, is given.
    package enum Answer: String, Sendable, CaseIterable {
        case unknown
        case revoked
        case appTooOld = "app_too_old"
        case cannotApply = "cannot_apply"
        case notConnected = "not_connected"
        case slow
        case behind
        case owed
        case well
    }

    /// The facts from which a story is made.
    package struct Facts: Sendable {
        package var id: ClientID
        package var workspace: WorkspaceID
        package var now: Milliseconds
        package var head: Head
        /// `nil` for a device that is not registered.
        package var device: Device?
        package var revokedBefore: Milliseconds?
        /// The least served version of its app, if its own is older.
        package var appMinimum: String?
        package var connection: WhyFacts.Connection?
        /// The writes that it still had to send, as reported at its last connection; `lag` counts the changes that it
        /// lacked when last connected.
        package var unsent: Int64?
        package var lag: Int64?
        /// The number of other servers that serve the workspace; `silent` of them did not report whether it is
        /// connected there.
        package var others = 0
        package var silent = 0
        /// Its last closed connections, the newest first.
        package var closings: [WhyFacts.Closing] = []
        package var refusals: [WhyFacts.Refusal] = []

        /// The number of connections in a row on which it could not apply what it was sent, as last reported; `nil`
        /// once it has applied everything.
        var stuck: Int64? {
            guard let connection else { return closings.first?.stuck }
            return connection.stuck(below: head.seq)
        }

        package init(id: ClientID, workspace: WorkspaceID, now: Milliseconds, head: Head) {
            self.id = id
            self.workspace = workspace
            self.now = now
            self.head = head
        }
    }

    package var answer: Answer
    package var sentence: String
    package var sections: [WhyStory.Section]

    package init(_ facts: Facts) {
        (answer, sentence) = Self.conclusion(facts)
        sections = [Self.deviceSection(facts), Self.closingSection(facts), Self.refusalSection(facts)]
    }

    /// The story for a terminal.
    package var text: String {
        let parts = sections.map { section in
            ([section.heading] + section.lines.map { "  " + $0 }).joined(separator: "\n")
        }
        return (parts + [sentence]).joined(separator: "\n\n")
    }

    private static func conclusion(_ facts: Facts) -> (Answer, String) {
        func stuck(_ answer: Answer, _ reason: String) -> (Answer, String) {
            (answer, "Device \(facts.id) is stuck because \(reason).")
        }
        guard let device = facts.device else {
            return stuck(
                .unknown,
                "no device of that id is registered in workspace \(facts.workspace): it was removed, or never came;"
                    + " when it comes it takes a new id")
        }
        let refusal = facts.stuck.map { stuck(.cannotApply, "it \(WhyFacts.refusing($0))") }
        guard let connection = facts.connection else {
            if let time = facts.revokedBefore {
                return stuck(
                    .revoked,
                    "its tokens from before \(Instant(time)) are revoked: \(device.user) must sign in again")
            }
            if let minimum = facts.appMinimum {
                return stuck(
                    .appTooOld, "its app \(device.app ?? "") is older than \(minimum), which is the least served")
            }
            if let refusal { return refusal }
            return away(device, facts)
        }
        if let refusal { return refusal }
        if connection.isSlow {
            return stuck(
                .slow,
                "it does not read what it is sent: \(connection.pending) bytes are sent and not acknowledged")
        }
        if connection.position < facts.head.seq {
            return stuck(
                .behind,
                "it is connected and behind: it was sent everything up to #\(connection.position) of #\(facts.head.seq)"
            )
        }
        let owed = facts.refusals.filter(\.isOwed)
        if let last = owed.max(by: { $0.number < $1.number }) {
            return stuck(
                .owed,
                "\(owed.count) of its writes were refused and it has not confirmed that; the last: transaction"
                    + " \(last.number), \(last.rejection.code.rawValue), \(last.rejection.message)")
        }
        return (
            .well,
            "Device \(facts.id) is not stuck on anything that the server knows: it is connected and was sent everything"
                + " up to #\(connection.position)."
        )
    }

    /// Returns the story of a device that is connected to no server that answered.
    private static func away(_ device: Device, _ facts: Facts) -> (Answer, String) {
        let since = Instant(device.lastSeen)
        let doubt = WhyFacts.silence(facts.silent, of: facts.others).map { " (\($0))" } ?? ""
        let closing = facts.closings.first.map { ", and its last connection ended with \($0.words)" } ?? ""
        let position = device.position ?? 0
        if device.position != nil, position >= facts.head.seq, facts.unsent ?? 0 == 0 {
            return (
                .notConnected,
                "Device \(facts.id) has everything up to #\(position) of #\(facts.head.seq), and is away since"
                    + " \(since)\(doubt): what it has written since no server knows\(closing)."
            )
        }
        let had = device.position.map { ", with everything up to #\($0) of #\(facts.head.seq)" } ?? ""
        let owing = facts.unsent.flatMap { $0 > 0 ? ", with \($0) of its writes still to be sent" : nil } ?? ""
        return (
            .notConnected,
            "Device \(facts.id) is stuck because it is not connected\(doubt); it was last seen at"
                + " \(since)\(had)\(owing)\(closing)."
        )
    }

    private static func deviceSection(_ facts: Facts) -> WhyStory.Section {
        guard let device = facts.device else {
            return WhyStory.Section(heading: "DEVICE", lines: ["\(facts.id) is not registered"])
        }
        var lines = [
            "\(facts.id) of \(device.user), \(device.app ?? "app unknown"), registered \(Instant(device.registered))",
            "writes settled up to its number \(device.settledThrough), confirmed up to \(device.ackedThrough)",
        ]
        if let connection = facts.connection {
            lines.append(
                "connected, sent up to #\(connection.position) of #\(facts.head.seq), \(connection.pending) bytes not"
                    + " acknowledged"
            )
            if let records = connection.diverged { lines.append(difference(records, of: device.user)) }
        } else {
            let behind = facts.lag.map { ", \($0) changes behind" } ?? ""
            let had = device.position.map { ", has everything up to #\($0)" } ?? ""
            lines.append("not connected, last seen \(Instant(device.lastSeen))\(had)\(behind)")
        }
        if let doubt = WhyFacts.silence(facts.silent, of: facts.others) { lines.append(doubt) }
        if let unsent = facts.unsent { lines.append("writes that it still had to send when it came last: \(unsent)") }
        if let time = facts.revokedBefore { lines.append("tokens are valid from \(Instant(time)) on") }
        return WhyStory.Section(heading: "DEVICE", lines: lines)
    }

    private static func closingSection(_ facts: Facts) -> WhyStory.Section {
        let lines = facts.closings.flatMap { closing in
            ["\(Instant(closing.time)) \(closing.words)"]
                + (closing.diverged.map { ["  " + difference($0, of: facts.device?.user)] } ?? [])
        }
        return WhyStory.Section(
            heading: "LAST CONNECTIONS THAT ENDED", lines: lines.isEmpty ? ["none remembered"] : lines)
    }

    /// Returns the line for a device that compared its copy and reported differences.
    private static func difference(_ records: Int64, of user: UserID?) -> String {
        "the device\(user.map { " of \($0)" } ?? "") said that \(records) of its records differed from the server's,"
            + " and fetches them anew"
    }

    private static func refusalSection(_ facts: Facts) -> WhyStory.Section {
        let lines = facts.refusals.map { refusal in
            let records = refusal.records.map { "\($0)" }.joined(separator: ", ")
            return "\(Instant(refusal.time)) transaction \(refusal.number): \(refusal.rejection.code.rawValue),"
                + " \(refusal.rejection.message)\(records.isEmpty ? "" : " [\(records)]")"
                + (refusal.isOwed ? ", not confirmed" : "")
        }
        return WhyStory.Section(
            heading: "REFUSED WRITES (parked on the device)", lines: lines.isEmpty ? ["none known"] : lines)
    }
}
