package import TidemarkModel
package import TidemarkStore

/// The reason why a user sees a record, or does not: one story of the facts, and one sentence at its end. Pure.
package struct WhyStory: Hashable, Sendable {
    /// The possible answers; the first one that applies, in this order, is given.
    package enum Answer: String, Sendable, CaseIterable {
        case noSuchWorkspace = "no_such_workspace"
        case noSuchRecord = "no_such_record"
        case noSuchUser = "no_such_user"
        case scopeErased = "scope_erased"
        case deleted
        case unreadableCollection = "unreadable_collection"
        case neverMember = "never_member"
        case memberNoMore = "member_no_more"
        case leftOut = "left_out"
        case noDevice = "no_device"
        case cannotApply = "cannot_apply"
        case behind
        case delivered
        case revoked
        case notConnected = "not_connected"
    }

    /// One device of the user, with its state of the record.
    package struct DeviceLine: Hashable, Sendable {
        /// A device's state of the record, or the reason why it is unknown.
        package enum State: String, Sendable {
            case delivered, behind, away, revoked
            /// It has the record, and is not connected.
            case deliveredAway = "delivered_away"
            /// It lacks the record, since its copy refuses what it is sent; connected, or between two attempts.
            case cannotApply = "cannot_apply"
        }

        package var device: Device
        package var state: State
        /// The number up to which every change was sent to a connected device, or is on a disconnected one; `nil` if
        /// unknown.
        package var position: SequenceNumber?
        package var isConnected = false
        package var isSlow = false
        /// The number of connections in a row on which it could not apply what it was sent; `nil` once it has applied
        /// everything.
        package var stuck: Int64?
        package var closing: WhyFacts.Closing?

        /// True when it has the record, as far as servers can know.
        var hasRecord: Bool { state == .delivered || state == .deliveredAway }
    }

    package var answer: Answer
    /// Begins with the user, and says why.
    package var sentence: String
    /// The parts of the story, each with a heading.
    package var sections: [Section]
    package var devices: [DeviceLine]

    /// A part of a story.
    package struct Section: Hashable, Sendable {
        package var heading: String
        package var lines: [String]
    }

    package init(_ facts: WhyFacts) {
        let reading = WhyReading(facts)
        devices = reading.devices
        (answer, sentence) = reading.conclusion
        sections = reading.sections
    }

    /// The story for a terminal.
    package var text: String {
        let parts = sections.map { section in
            ([section.heading] + section.lines.map { "  " + $0 }).joined(separator: "\n")
        }
        return (parts + [sentence]).joined(separator: "\n\n")
    }
}

/// The facts with the conclusions drawn from them.
private struct WhyReading {
    let facts: WhyFacts
    let record: StoredRecord?
    let devices: [WhyStory.DeviceLine]

    init(_ facts: WhyFacts) {
        self.facts = facts
        // The living record, if collections share an id.
        let record = facts.records.first { !$0.isDeleted } ?? facts.records.first
        self.record = record
        devices = facts.devices.map { Self.line($0, record?.seq, facts) }
    }

    /// Returns the state of a device for a record whose last change has the number `seq`.
    private static func line(_ device: Device, _ seq: SequenceNumber?, _ facts: WhyFacts) -> WhyStory.DeviceLine {
        var line = WhyStory.DeviceLine(device: device, state: .away, position: device.position)
        line.closing = facts.closings.first { $0.client == device.id }
        let hasAcknowledged = seq.map { seq in device.position.map { $0 >= seq } ?? false } ?? false
        guard let connection = facts.connections.first(where: { $0.client == device.id }) else {
            line.stuck = line.closing?.stuck
            if hasAcknowledged { line.state = .deliveredAway } else if line.stuck != nil { line.state = .cannotApply }
            if facts.revoked[device.id] != nil { line.state = .revoked }
            return line
        }
        (line.isConnected, line.isSlow) = (true, connection.isSlow)
        line.stuck = connection.stuck(below: facts.head.seq)
        let wasSent = connection.position >= seq ?? 0
        guard line.stuck != nil else {
            (line.position, line.state) = (connection.position, wasSent ? .delivered : .behind)
            return line
        }
        // A sent frame may be the one that its copy refuses: only what it has acknowledged is on the device.
        let hasTaken = connection.pending == 0
        if hasTaken { line.position = connection.position }
        line.state = hasAcknowledged || (wasSent && hasTaken) ? .delivered : .cannotApply
        return line
    }

    private var name: String { record.map { "\($0.key)" } ?? "\(facts.id)" }

    private var isShared: Bool { record.map { facts.schema.stored.sharedScopes.contains($0.scope) } ?? false }

    private var grant: Grant? { record.flatMap { record in facts.grants.first { $0.scope == record.scope } } }

    private var past: [EndedMembership] {
        record.map { record in facts.ended.filter { $0.scope == record.scope } } ?? []
    }

    /// True when nothing of the user is known in the workspace.
    private var isStranger: Bool {
        facts.grants.isEmpty && facts.ended.isEmpty && facts.devices.isEmpty && facts.connections.isEmpty
    }

    var conclusion: (WhyStory.Answer, String) {
        let (user, head) = (facts.user, facts.head.seq)
        func because(_ answer: WhyStory.Answer, _ reason: String) -> (WhyStory.Answer, String) {
            (answer, "\(user) does not see \(name) because \(reason).")
        }
        guard head > 0 else {
            return because(
                .noSuchWorkspace, "nothing was ever written in workspace \(facts.workspace), whose name may be wrong")
        }
        guard let record else {
            return because(
                .noSuchRecord,
                "no record of that id is stored: it was never created here (a device may still have it in its outbox),"
                    + " or it was erased, or deleted before #\(facts.horizon) and forgotten")
        }
        guard !isStranger else {
            return because(
                .noSuchUser, "nothing is known of \(user) in workspace \(facts.workspace): no membership, no device")
        }
        if facts.isScopeErased { return because(.scopeErased, "its scope \(record.scope) was erased") }
        if record.isDeleted { return because(.deleted, "it was deleted at #\(record.seq)\(deleter(of: record))") }
        guard facts.schema.isReadable(record.key.collection) else {
            return because(
                .unreadableCollection,
                "the schema in force has no collection \(record.key.collection), so nobody reads it")
        }
        if grant == nil, !isShared {
            guard let last = past.first else {
                return because(.neverMember, "\(user) was never a member of its scope \(record.scope)")
            }
            return because(
                .memberNoMore,
                "\(user) is not a member of its scope \(record.scope) any more since #\(last.ended)"
                    + " (was \(last.role.rawValue) from #\(last.since) on)")
        }
        if facts.isLeftOut {
            return because(
                .leftOut,
                "\(user) has \(facts.leftOut) more scopes than a connection holds, which has the newest, and its scope"
                    + " \(record.scope) is not among these")
        }
        return delivery(of: record)
    }

    /// Returns the answer for a record that the user may see: its state on the devices.
    private func delivery(of record: StoredRecord) -> (WhyStory.Answer, String) {
        let user = facts.user
        func because(_ answer: WhyStory.Answer, _ reason: String) -> (WhyStory.Answer, String) {
            (answer, "\(user) does not see \(name) because \(reason).")
        }
        guard !devices.isEmpty else { return because(.noDevice, "no device of \(user) is registered") }
        if let line = newest(where: { $0.state == .cannotApply }), let count = line.stuck {
            let refusing = WhyFacts.refusing(count)
            let since = "\(Instant(line.device.lastSeen))\(facts.doubt)"
            return lacks(
                line, .cannotApply,
                line.isConnected
                    ? "is connected and \(refusing)"
                    : "\(refusing); its last connection ended so, and it is away since \(since)")
        }
        if let line = devices.first(where: { $0.state == .behind }) {
            return lacks(
                line, .behind,
                "is connected and behind: it was sent everything up to #\(line.position ?? 0),"
                    + " and the record's last change is #\(record.seq)"
                    + (line.isSlow ? "; it does not read what it is sent" : ""))
        }
        if let line = devices.first(where: { $0.state == .delivered }) {
            let what = line.stuck == nil ? "was sent" : "has"
            return sent(line, "is connected and \(what) everything up to #\(line.position ?? 0)")
        }
        guard let latest = newest(where: { $0.state != .revoked }) else {
            return because(.revoked, "every device of \(user) is signed out by a revocation")
        }
        let reason = latest.closing.map { "; its last connection ended with \($0.words)" } ?? ""
        let since = "\(Instant(latest.device.lastSeen))"
        if latest.state == .deliveredAway {
            return sent(
                latest, "has everything up to #\(latest.position ?? 0), and is away since \(since)\(facts.doubt)")
        }
        let had = latest.position.map {
            " with everything up to #\($0), and the record's last change is #\(record.seq)"
        }
        let seen = "was seen at \(since)" + (had ?? "") + reason
        guard holder(besides: latest) == nil else {
            return lacks(latest, .notConnected, "is not connected\(facts.doubt), and \(seen)")
        }
        return because(
            .notConnected,
            "no device of \(user) is connected\(facts.doubt); the last one, \(latest.device.id), \(seen)")
    }

    /// Returns the device that was last seen, among those that match.
    private func newest(where isMeant: (WhyStory.DeviceLine) -> Bool) -> WhyStory.DeviceLine? {
        devices.filter(isMeant).max { $0.device.lastSeen < $1.device.lastSeen }
    }

    /// Returns another device of the user that has the record.
    private func holder(besides line: WhyStory.DeviceLine) -> WhyStory.DeviceLine? {
        newest { $0.hasRecord && $0.device.id != line.device.id }
    }

    /// Returns the answer that a device lacks the record, preceded by another device that has it.
    ///
    /// - Parameter reason: follows the device's name.
    private func lacks(
        _ line: WhyStory.DeviceLine, _ answer: WhyStory.Answer, _ reason: String
    ) -> (WhyStory.Answer, String) {
        let user = facts.user
        guard let holder = holder(besides: line) else {
            return (answer, "\(user) does not see \(name) because device \(line.device.id) \(reason).")
        }
        let had =
            holder.isConnected
            ? "\(user) was sent \(name) on device \(holder.device.id), which is connected"
            : "\(user) has \(name) on device \(holder.device.id), away since \(Instant(holder.device.lastSeen))"
        let isLater = !holder.isConnected && line.device.lastSeen > holder.device.lastSeen
        return (
            answer,
            "\(had); device \(line.device.id)\(isLater ? ", seen later," : "") does not have it yet: it \(reason)."
        )
    }

    /// Returns the answer that the record is on a device, as far as servers can know.
    private func sent(_ line: WhyStory.DeviceLine, _ what: String) -> (WhyStory.Answer, String) {
        let others = devices.count { $0.device.id != line.device.id && !$0.isConnected }
        return (
            .delivered,
            "\(facts.user) was sent \(name): device \(line.device.id) \(what); what it does not show is kept from view by"
                + " the app, or has not been fetched as a page yet"
                + (others > 0 ? " (\(others) other devices are not connected)." : ".")
        )
    }

    /// Returns the author of the deletion, if it is kept.
    private func deleter(of record: StoredRecord) -> String {
        let step = facts.history?.steps.first { $0.seq == record.seq && $0.kind == .deleted }
        return step?.author.map { " by \($0)" } ?? " (by whom is no longer known)"
    }

    var sections: [WhyStory.Section] {
        [recordSection, membershipSection, deviceSection, refusalSection, overwrittenSection]
    }

    private var recordSection: WhyStory.Section {
        var lines = facts.records.map { record in
            let state = record.isDeleted ? "deleted at #\(record.seq)" : "living, last changed at #\(record.seq)"
            return "\(record.key): \(state), created at #\(record.born) by \(record.author), in scope \(record.scope)"
        }
        if lines.isEmpty { lines = ["no record \(facts.id) is stored"] }
        if isShared { lines.append("its scope is shared: every user of the workspace sees it") }
        if facts.isScopeErased { lines.append("its scope was erased") }
        if let history = facts.history {
            lines.append("its writes are known from #\(history.knownFrom) on: \(history.steps.count) of them")
        }
        lines.append("the workspace is at #\(facts.head.seq), and has forgotten deletions up to #\(facts.horizon)")
        return WhyStory.Section(heading: "RECORD", lines: lines)
    }

    private var membershipSection: WhyStory.Section {
        var lines: [String] = []
        if let grant { lines.append("\(grant.role.rawValue) of \(grant.scope) since #\(grant.since)") }
        lines += past.map { "was \($0.role.rawValue) of \($0.scope) from #\($0.since) to #\($0.ended)" }
        if lines.isEmpty { lines = ["none in the record's scope, now or since #\(facts.horizon)"] }
        lines.append("\(facts.user) has \(facts.grants.count) memberships in the workspace")
        if facts.leftOut > 0 { lines.append("\(facts.leftOut) of them, the oldest, do not fit on a connection") }
        return WhyStory.Section(heading: "MEMBERSHIPS OF \(facts.user)", lines: lines)
    }

    private var deviceSection: WhyStory.Section {
        var lines = devices.map { line in
            var words = ["\(line.device.id)", line.words]
            if let app = line.device.app { words.append(app) }
            let what = line.isConnected && line.stuck == nil ? "sent" : "has everything"
            if let position = line.position { words.append("\(what) up to #\(position)") }
            if line.isSlow { words.append("does not read what it is sent") }
            if let count = line.stuck {
                words.append("could not take in what it was sent on \(count) connections in a row")
            }
            if line.state == .revoked { words.append("last seen \(Instant(line.device.lastSeen))") }
            if let time = facts.revoked[line.device.id] { words.append("tokens are valid from \(Instant(time)) on") }
            if !line.isConnected, let closing = line.closing { words.append("ended with \(closing.words)") }
            return words.joined(separator: ", ")
        }
        if lines.isEmpty { lines = ["none"] }
        if let doubt = facts.silence { lines.append(doubt) }
        return WhyStory.Section(heading: "DEVICES", lines: lines)
    }

    private var refusalSection: WhyStory.Section {
        let own = facts.refusals.filter { refusal in
            refusal.records.isEmpty || refusal.records.contains { $0.id == facts.id }
        }
        let lines = own.map { refusal in
            let subject = refusal.records.isEmpty ? " (of which record is no longer known)" : ""
            let owed = refusal.isOwed ? ", which the device has not confirmed" : ""
            return "\(Instant(refusal.time)) device \(refusal.client), transaction \(refusal.number):"
                + " \(refusal.rejection.code.rawValue), \(refusal.rejection.message)\(subject)\(owed)"
        }
        return WhyStory.Section(
            heading: "REFUSED WRITES (parked on the device)", lines: lines.isEmpty ? ["none known"] : lines)
    }

    private var overwrittenSection: WhyStory.Section {
        let lines = facts.ledger.map { entry in
            "#\(entry.seq) \(Instant(entry.time)) \(entry.author) replaced \(entry.value.field)"
                + " \(entry.value.old?.json.excerpt() ?? "nothing") by \(entry.value.new?.json.excerpt() ?? "nothing")"
                + " without having seen it"
        }
        return WhyStory.Section(heading: "OVERWRITTEN VALUES", lines: lines.isEmpty ? ["none kept"] : lines)
    }
}

extension WhyStory.DeviceLine {
    fileprivate var words: String {
        switch state {
        case .delivered, .behind, .revoked: state.rawValue
        case .cannotApply where isConnected: "connected"
        case .away, .cannotApply: "away since \(Instant(device.lastSeen))"
        case .deliveredAway: "has it, away since \(Instant(device.lastSeen))"
        }
    }
}

extension WhyFacts {
    /// The sentence about servers that did not answer; `nil` if all of them did.
    var silence: String? { Self.silence(silent, of: others) }

    /// Returns the sentence about servers that did not answer; `nil` if all of them did.
    package static func silence(_ silent: Int, of others: Int) -> String? {
        guard silent > 0 else { return nil }
        return "\(silent) of \(others) other servers did not answer: what is connected there is not known"
    }

    /// Returns the predicate of a device whose copy refuses what it is sent.
    ///
    /// - Parameter count: the number of connections in a row.
    static func refusing(_ count: Int64) -> String {
        "cannot take in what it is sent: it ended \(count) connections in a row for that, and nothing new reaches it;"
            + " its app has the reason as the failure cannot_apply, and in its report"
    }

    fileprivate var doubt: String { silence.map { " (\($0))" } ?? "" }
}

extension Device {
    /// The last time at which it was seen: its registration, or later.
    var lastSeen: Milliseconds { max(seen, registered) }
}

extension WhyFacts.Closing {
    /// The code and reason.
    var words: String { (code.map { "\($0), " } ?? "") + reason }
}
