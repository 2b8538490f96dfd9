import Foundation
import TidemarkExtension
import TidemarkModel

/// The meaning of an extension's steps under the present schema of the app; names may have changed since they were
/// written.
struct SpoolTranslation {
    /// The patches by the rule of each field, with what the extension had seen; or the reason why there is no such
    /// patch.
    let mutations: Result<[(mutation: Mutation, sight: WriterSight?)], StoreError>
    /// The mutations to park if a rule refuses the patches.
    let asWritten: [Mutation]
    let blobs: [(key: BlobKey, bytes: Data)]

    /// - Throws: `fault` for a collection that the schema does not have.
    init(_ write: SpooledWrite, _ database: LocalDatabase) throws(SpoolRefusal) {
        var (mutations, asWritten): ([(Mutation, WriterSight?)], [Mutation]) = ([], [])
        var failure: StoreError?
        var blobs: [(key: BlobKey, bytes: Data)] = []
        for step in write.steps {
            if case .keep(let scope, let bytes) = step {
                blobs.append((BlobKey(scope: scope, digest: BlobDigest(of: bytes)), bytes))
                continue
            }
            guard let key = step.key.map({ database.names.local($0) }),
                let collection = database.tables[key.collection]?.collection
            else {
                throw .fault(.unknownCollection, "the schema has no collection \(step.key?.collection ?? "")")
            }
            let plain = step.mutations(key, collection)
            asWritten += plain
            let sight = step.sight(in: collection)
            do { mutations += try (step.merged(key, collection) ?? plain).map { ($0, sight) } } catch let error
                as StoreError
            {
                failure = failure ?? error
            } catch { throw .other(error) }
        }
        (self.asWritten, self.blobs) = (asWritten, blobs)
        self.mutations = failure.map { .failure($0) } ?? .success(mutations)
    }
}

extension SpoolStep {
    fileprivate var key: RecordKey? {
        switch self {
        case .create(let key, _), .change(let key, _, _), .set(let key, _, _), .delete(let key): key
        case .keep: nil
        }
    }

    /// Returns the mutations by the rules of the fields; `nil` if the rules do not apply to the step.
    fileprivate func merged(_ key: RecordKey, _ collection: CollectionSchema) throws -> [Mutation]? {
        guard case .change(_, let from, let to) = self else { return nil }
        return try ModelChange(collection: collection, key: key).mutations(
            from: Self.stored(from, collection), to: Self.stored(to, collection))
    }

    /// Returns the fields from which the extension read its model. Only the extension knows the defaults of its model:
    /// a field without a value here may be one that it showed.
    fileprivate func sight(in collection: CollectionSchema) -> WriterSight? {
        guard case .change(_, let from, _) = self else { return nil }
        let seen = Self.stored(from, collection)
        return WriterSight(seen: seen) { record in
            var fields = record.fields
            for entry in seen.entries where fields[entry.name] == nil { fields[entry.name] = entry.value }
            return fields
        }
    }

    /// Returns the mutations that replace each field.
    fileprivate func mutations(_ key: RecordKey, _ collection: CollectionSchema) -> [Mutation] {
        switch self {
        case .create(_, let fields): return [Mutation(key: key, action: .create(Self.stored(fields, collection)))]
        case .change(_, let from, let to):
            let (from, to) = (Self.stored(from, collection), Self.stored(to, collection))
            let names = Set(from.entries.map(\.name)).union(to.entries.map(\.name)).sorted()
            let patches = names.filter { from[$0] != to[$0] }.map { name in
                NamedPatch(name, to[name].map { .set($0) } ?? .unset)
            }
            return patches.isEmpty ? [] : [Mutation(key: key, action: .update(patches))]
        case .set(_, let field, let value):
            var fields = Fields()
            fields[field] = value
            let name = fields.renamed(collection.renames).entries.first?.name ?? field
            let stored = collection.field(name)?.type.canonical(value) ?? value
            let isMax = collection.field(name)?.merge == .max
            let patch: FieldPatch = stored == .null ? .unset : isMax ? .max(stored) : .set(stored)
            return [Mutation(key: key, action: .update([NamedPatch(name, patch)]))]
        case .delete: return [Mutation(key: key, action: .delete)]
        case .keep: return []
        }
    }

    private static func stored(_ fields: Fields, _ collection: CollectionSchema) -> Fields {
        collection.fields(set: fields.renamed(collection.renames))
    }
}
