import Foundation
package import TidemarkModel
package import TidemarkStore

/// The changes from putting a schema in force, with the numbers of affected records, devices and apps. Pure: all counts
/// are passed in.
package struct SchemaPlan: Sendable {
    /// The revision that would be stored.
    package let next: SchemaRevision
    package let schema: Schema
    package let comparison: SchemaComparison
    private let before: SchemaRevision
    private let hasOtherDocument: Bool
    /// The counts so far; `nil` before anything is counted.
    package var counted: RecordCount?
    /// True when counting is complete.
    package var isCountedThrough = true
    package var apps: [AppCount] = []

    /// The maximum number of apps in one report.
    package static let appsMax = 100
    /// Devices that were not seen for longer are ignored, in milliseconds: 90 days.
    package static let unseenMax: Int64 = 90 * 86_400_000

    /// - Parameter before: the revision in force.
    /// - Throws: the error of the call. ``check(_:)`` judges what it removes from old apps.
    package init(_ call: SchemaCall, on before: SchemaRevision, now: Milliseconds) throws(SchemaRefusal) {
        guard call.note.utf8.count <= SchemaRevision.noteBytesMax else {
            throw SchemaRefusal(.invalid, "the note is longer than \(SchemaRevision.noteBytesMax) bytes")
        }
        var next = SchemaRevision(
            number: before.number + 1, document: call.document.map { Array($0.utf8) } ?? before.document,
            requirement: before.requirement, applied: now, note: call.note)
        guard next.document.count <= SchemaRevision.documentBytesMax else {
            throw SchemaRefusal(.invalid, "the document is longer than \(SchemaRevision.documentBytesMax) bytes")
        }
        if let text = call.requirement {
            guard let requirement = AppRequirement(text) else {
                throw SchemaRefusal(
                    .invalid,
                    "\"\(text.excerpt())\" is not a list of versions: write 2.4 for every app or NAME 2.4 for one, separated by"
                        + " commas; an empty text serves every app")
            }
            next.requirement = requirement
        }
        let old = try Self.schema(before.document, "the document in force")
        schema = try Self.schema(next.document, "the document")
        guard schema.name == old.name else {
            throw SchemaRefusal(
                .invalid,
                "the schema in force is called \"\(old.name)\", and this one \"\(schema.name)\": devices do not sync with"
                    + " a server of another schema; give each app its own database")
        }
        self.next = next
        self.before = before
        hasOtherDocument = schema != old
        comparison = SchemaComparison(from: old, to: schema)
    }

    private static func schema(_ document: [UInt8], _ name: String) throws(SchemaRefusal) -> Schema {
        do throws(SchemaError) {
            return try Schema(json: document)
        } catch {
            throw SchemaRefusal(.invalid, "\(name): \(error)")
        }
    }

    /// False when everything is as requested already.
    package var changesAnything: Bool { hasOtherDocument || next.requirement != before.requirement }

    /// - Throws: code `narrows` when something is removed from old apps, and the call does not accept that.
    package func check(_ call: SchemaCall) throws(SchemaRefusal) {
        guard comparison.costsOldApps, !call.isAccepted else { return }
        throw SchemaRefusal(
            .narrows, "this removes something from apps in use, see below; if that is intended, accept it\n\n\(text)")
    }

    /// The fields that the changes affect.
    package var fields: [RecordCount.Field] {
        var fields: Set<RecordCount.Field> = []
        for change in comparison.changes where change.kind != .added {
            if let collection = change.collection, let field = change.field {
                fields.insert(.init(collection: collection, name: field))
            }
        }
        return fields.sorted { ($0.collection, $0.name) < ($1.collection, $1.name) }
    }

    // MARK: The report

    /// The text for a terminal.
    package var text: String {
        var blocks = [comparison.text(remark)]
        if before.requirement != next.requirement {
            blocks.append(
                "apps that are served: \(Self.words(before.requirement)) until now, then \(Self.words(next.requirement))"
            )
        }
        if let counted {
            let number = counted.records.values.reduce(0, +)
            blocks.append("\(isCountedThrough ? "" : "at least ")\(number) records in all")
            blocks.append(appsText)
        }
        return blocks.joined(separator: "\n\n")
    }

    private static func words(_ requirement: AppRequirement) -> String {
        requirement.isEmpty ? "every app" : "\(requirement) and later"
    }

    /// Returns the number of records that a change affects, as a remark.
    private func remark(_ change: SchemaComparison.Change) -> String {
        guard let count = records(of: change) else { return "" }
        return "; \(isCountedThrough ? "" : "at least ")\(count) record\(count == 1 ? "" : "s")"
    }

    private func records(of change: SchemaComparison.Change) -> Int64? {
        guard let counted, change.kind != .added, let collection = change.collection else { return nil }
        guard let field = change.field else { return counted.records[collection] ?? 0 }
        return counted.values[.init(collection: collection, name: field)] ?? 0
    }

    private var appsText: String {
        let devices = apps.reduce(0) { $0 + $1.devices }
        let title = "devices seen in the last \(Self.unseenMax / 86_400_000) days: \(devices)"
        let names = apps.map { $0.app ?? "(not reported)" }
        let width = names.map(\.count).max() ?? 0
        let lines = zip(apps, names).map { app, name in
            let gap = String(repeating: " ", count: width - name.count)
            let end = isEnded(app) ? "  no longer served" : ""
            return "  \(name)\(gap)  \(app.devices), last on \(Self.day(app.seen))\(end)"
        }
        return ([title] + lines).joined(separator: "\n")
    }

    private func isEnded(_ app: AppCount) -> Bool { next.requirement.minimum(for: app.app) != nil }

    private static func day(_ time: Milliseconds) -> String {
        Date(timeIntervalSince1970: Double(time) / 1_000).formatted(.iso8601.year().month().day())
    }

    /// Encodes the answer of the call.
    ///
    /// - Parameter isApplied: whether the schema is in force now.
    package func encode(isApplied: Bool) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        writer.value("{\"applied\":", .boolean(isApplied))
        writer.integer(",\"revision\":", isApplied ? next.number : before.number)
        writer.string(",\"min_app\":", next.requirement.description)
        writer.array(",\"changes\":", comparison.changes) { writer, change in
            writer.string("{\"kind\":", change.kind.rawValue)
            writer.string(",\"what\":", change.what)
            writer.string(",\"effect\":", change.effect)
            if let records = records(of: change) { writer.integer(",\"records\":", records) }
            writer.byte(UInt8(ascii: "}"))
        }
        if counted != nil {
            writer.value(",\"whole\":", .boolean(isCountedThrough))
            writer.array(",\"apps\":", apps) { writer, app in
                writer.integer("{\"devices\":", app.devices)
                writer.integer(",\"seen\":", app.seen)
                if let name = app.app { writer.string(",\"app\":", name) }
                writer.value(",\"ended\":", .boolean(isEnded(app)))
                writer.byte(UInt8(ascii: "}"))
            }
        }
        writer.string(",\"text\":", text)
        return writer.ended()
    }
}
