package import TidemarkModel

/// Something that is wrong with a database or a backup, in words for its operator. No values of records.
package struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// What it is about.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A file of a backup: missing, cut short, changed.
        case file
        /// The database's own check of its pages.
        case damage
        /// A row that cannot be read at all, or is of a workspace that is not there.
        case row
        /// Batches that do not tile the order.
        case order
        /// A record whose number, birth or state cannot be.
        case record
        /// Fields that are not canonical JSON.
        case body
        /// A record that is not found where its scope is searched.
        case scope
        case client, member, ledger, blob
        /// Other counts or digests than the manifest says.
        case manifest
    }

    package let kind: Kind
    /// `nil` for what concerns the whole.
    package let workspace: WorkspaceID?
    /// A sentence.
    package let text: String

    package init(_ kind: Kind, _ workspace: WorkspaceID?, _ text: String) {
        self.kind = kind
        self.workspace = workspace
        self.text = text
    }

    /// About the whole.
    package init(_ kind: Kind, _ text: String) { self.init(kind, nil, text) }

    package var description: String {
        let place = workspace.map { "workspace \($0): " } ?? ""
        return "\(kind.rawValue): \(place)\(text)"
    }
}

/// Findings in the order in which they came: the first of each kind, and how many there are.
package struct Findings: Hashable, Sendable {
    /// Of one kind that are kept.
    package static let keptPerKindMax = 20
    /// The first ones of each kind.
    package private(set) var kept: [Finding] = []
    /// All, by kind.
    package private(set) var counts: [Finding.Kind: Int] = [:]

    package init() {}

    /// Nothing is wrong.
    package var isEmpty: Bool { counts.isEmpty }

    /// Adds one; only the first ones of a kind are kept.
    package mutating func add(_ finding: Finding) {
        let count = counts[finding.kind, default: 0]
        counts[finding.kind] = count + 1
        if count < Self.keptPerKindMax { kept.append(finding) }
    }

    /// A line for each that is kept, and one for each kind of which there are more.
    package var lines: [String] {
        kept.map(\.description)
            + Finding.Kind.allCases.compactMap { kind in
                let more = counts[kind, default: 0] - Self.keptPerKindMax
                return more > 0 ? "\(kind.rawValue): and \(more) more" : nil
            }
    }
}
