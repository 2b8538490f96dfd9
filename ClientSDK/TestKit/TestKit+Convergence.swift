import Tidemark
import TidemarkModel

extension TestKit {
    /// Compares the copy of every running online client with the server's data for its account: the same records, the
    /// same fields, nothing pending, nothing refused.
    ///
    /// - Throws: `diverged`, with the first differences.
    public func expectConverged() throws {
        let found = try clients.filter { $0.isRunning && $0.isOnline }.flatMap { try differences($0) }
        guard !found.isEmpty else { return }
        let more = found.count - limits.maxDifferences
        let named = found.prefix(limits.maxDifferences) + (more > 0 ? ["and \(more) more"] : [])
        throw TestKitError(.diverged, named.joined(separator: "\n"))
    }

    private func differences(_ client: TestClient) throws -> [String] {
        let changes = try loopback.look { try $0.changes(for: client.account) }
        // On the server, collections and fields have the first names that they ever had.
        let truth = Dictionary(
            changes.values.map { client.store.schema.local($0) }, uniquingKeysWith: { first, _ in first })
        let shown = try client.store.shownRecords()
        let name = "\(client.account) #\(client.number)"
        var differences: [String] = []
        for record in shown {
            guard let change = truth[record.key] else {
                differences.append("\(name) shows \(record.key), which the server does not have for it")
                continue
            }
            if record.state != .synced { differences.append("\(name): \(record.key) is \(record.state)") }
            if record.seq != change.seq || record.fields != change.fields {
                differences.append("\(name): \(record.key) is \(record.fields), at the server \(change.fields)")
            }
        }
        let missing = Set(truth.keys).subtracting(shown.map(\.key))
        return differences + missing.sorted().map { "\(name) lacks \($0)" }
    }
}

extension Schema {
    /// Returns a record of the server under the names of this version of the app.
    fileprivate func local(_ change: Change) -> (RecordKey, (seq: SequenceNumber, fields: Fields)) {
        guard let collection = collections.first(where: { $0.storedName == change.key.collection }) else {
            return (change.key, (change.seq, change.fields))
        }
        var fields = change.fields
        for field in collection.fields where field.storedName != field.name {
            guard let value = fields[field.storedName] else { continue }
            fields[field.storedName] = nil
            fields[field.name] = value
        }
        return (RecordKey(collection: collection.name, id: change.key.id), (change.seq, fields))
    }
}
