import GRDB
import TidemarkModel

/// The start of the next page of a list: after a record, by the values that it had when it was read. Thus no record is
/// skipped or repeated when others come and go, or when that record is deleted meanwhile.
struct Continuation: Sendable {
    let id: UniqueID
    let fields: Fields
    /// Whether records without a value, which sort last, are included: SQLite then scans the list from its beginning.
    var isWhole = false

    /// Returns the SQL condition for the records after this one.
    func condition(_ order: RecordOrder, _ writer: inout RecordQuery.Writer) throws -> String {
        var alternatives: [String] = []
        var bound = ""
        for (index, term) in order.terms.enumerated() {
            let before = order.terms[..<index]
            if index == 0 { bound = try start(term, &writer) }
            let equals = try before.map { try equal($0, &writer) }
            alternatives.append((equals + [try after(term, &writer)]).joined(separator: " AND "))
        }
        // Among records that are equal by all rules: those that arrived later on this device; all of them if the record
        // is gone.
        let isDescending = order.terms.last?.isDescending == true
        let row = own("_rowid_", writer)
        let equals = try order.terms.map { try equal($0, &writer) }
        let tie =
            "\(writer.qualifier)_rowid_ \(isDescending ? "<" : ">") coalesce(\(row), \(isDescending ? Int64.max : -1))"
        writer.values.append(id.description.databaseValue)
        alternatives.append((equals + [tie]).joined(separator: " AND "))
        return "\(bound)(\(alternatives.map { "(\($0))" }.joined(separator: " OR ")))"
    }

    /// Returns a plain bound of the first rule, which an index can use. It excludes records without a value that sort
    /// last.
    private func start(_ term: RecordOrder.Term, _ writer: inout RecordQuery.Writer) throws -> String {
        guard case .field(let name) = term.key, !isWhole else { return "" }
        let (column, value) = try value(name, writer)
        guard value != .null else { return "" }
        writer.values.append(value)
        return "\(column) \(term.isDescending ? "<=" : ">=") ? AND "
    }

    private func equal(_ term: RecordOrder.Term, _ writer: inout RecordQuery.Writer) throws -> String {
        switch term.key {
        case .creation:
            writer.values.append(id.description.databaseValue)
            return "\(writer.qualifier)server_id IS \(own("server_id", writer))"
        case .field(let name):
            let (column, value) = try value(name, writer)
            writer.values.append(value)
            return "\(column) IS ?"
        case .wrong(let error): throw error
        }
    }

    private func after(_ term: RecordOrder.Term, _ writer: inout RecordQuery.Writer) throws -> String {
        switch term.key {
        case .creation:
            // A record without a number of the server sorts after all that have one.
            let (last, number) = (Int64.max, "\(writer.qualifier)server_id")
            writer.values.append(id.description.databaseValue)
            return "coalesce(\(number), \(last)) \(term.isDescending ? "<" : ">") "
                + "coalesce(\(own("server_id", writer)), \(last))"
        case .field(let name):
            let (column, value) = try value(name, writer)
            switch (term.isDescending, value == .null) {
            case (false, true): return "\(column) IS NOT NULL"
            case (true, true): return "0"
            case (false, false):
                writer.values.append(value)
                return "\(column) > ?"
            case (true, false):
                writer.values.append(value)
                return "(\(column) < ? OR \(column) IS NULL)"
            }
        case .wrong(let error): throw error
        }
    }

    private func value(_ name: String, _ writer: RecordQuery.Writer) throws -> (String, DatabaseValue) {
        let (column, type) = try writer.column(name)
        guard name != EnvelopeColumn.id.rawValue || writer.collection.keyField != nil else {
            return (column, id.description.databaseValue)
        }
        guard let value = fields[name], value != .null else { return (column, .null) }
        return (column, try writer.bound(value, type, name))
    }

    /// Returns a column of the record itself, as it is now; the record's id is the argument.
    private func own(_ column: String, _ writer: RecordQuery.Writer) -> String {
        "(SELECT \(column) FROM \(writer.quotedName) WHERE local_id = ?)"
    }
}
