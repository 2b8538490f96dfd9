package import TidemarkModel

/// An error found in a database or a backup, as a sentence for its operator. It contains no values of records.
package struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// The subject of a finding.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A file of a backup: missing, cut short, changed.
        case file
        /// The database's own check of its pages.
        case damage
        /// A row that cannot be read at all, or belongs to a workspace that does not exist.
        case row
        /// Batches that do not tile the order.
        case order
        /// A record whose number, birth or state is impossible.
        case record
        /// Fields that are not canonical JSON.
        case body
        /// A record that a search of its scope does not find.
        case scope
        case client, member, ledger, blob
        /// Counts or digests that differ from the manifest's.
        case manifest
    }

    package let kind: Kind
    /// `nil` for a finding about the whole database or backup.
    package let workspace: WorkspaceID?
    /// A sentence.
    package let text: String

    package init(_ kind: Kind, _ workspace: WorkspaceID?, _ text: String) {
        self.kind = kind
        self.workspace = workspace
        self.text = text
    }

    /// Creates a finding about the whole database or backup.
    package init(_ kind: Kind, _ text: String) { self.init(kind, nil, text) }

    package var description: String {
        let subject = workspace.map { "workspace \($0): " } ?? ""
        return "\(kind.rawValue): \(subject)\(text)"
    }
}

/// Findings in the order in which they were added: the first of each kind, and the count of all.
package struct Findings: Hashable, Sendable {
    /// The maximum number of findings of one kind that are kept.
    package static let keptPerKindMax = 20
    /// The first findings of each kind.
    package private(set) var kept: [Finding] = []
    /// The count of all findings, by kind.
    package private(set) var counts: [Finding.Kind: Int] = [:]

    package init() {}

    /// True when nothing is wrong.
    package var isEmpty: Bool { counts.isEmpty }

    /// Adds a finding; only the first ones of a kind are kept.
    package mutating func add(_ finding: Finding) {
        let count = counts[finding.kind, default: 0]
        counts[finding.kind] = count + 1
        if count < Self.keptPerKindMax { kept.append(finding) }
    }

    /// One line for each kept finding, and one for each kind that has more.
    package var lines: [String] {
        kept.map(\.description)
            + Finding.Kind.allCases.compactMap { kind in
                let more = counts[kind, default: 0] - Self.keptPerKindMax
                return more > 0 ? "\(kind.rawValue): and \(more) more" : nil
            }
    }
}
