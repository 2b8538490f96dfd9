package import Foundation
package import TidemarkModel

/// The user who is signed in to the app: the owner of its extensions' writes.
package struct SignedIn: Hashable, Sendable {
    package var account: UserID
    /// The name of the app's schema.
    package var schema: String

    private static let name = "signed-in"
    private static let bytesMax = 4_096

    package init(account: UserID, schema: String) {
        self.account = account
        self.schema = schema
    }

    /// Returns the signed-in user; `nil` when there is none.
    package static func read(in folder: URL) throws(SharingError) -> SignedIn? {
        let file = folder.appending(path: name)
        let payload: Data?
        do throws(SealedFile.Fault) {
            payload = try SealedFile.read(file, as: .account, bytesMax: bytesMax)
        } catch { throw error.named(file) }
        guard let payload else { return nil }
        // Whatever its error, the file is not one of ours.
        guard let fields = try? JSONReader.read(Array(payload), { try $0.fields() }),
            case .string(let account)? = fields["account"], let account = UserID(checking: account),
            case .string(let schema)? = fields["schema"]
        else { throw SealedFile.Fault.foreign.named(file) }
        return SignedIn(account: account, schema: schema)
    }

    /// Stores the user durably.
    package func write(in folder: URL, part: UniqueID) throws(SharingError) {
        let fields: Fields = ["account": .string(account.text), "schema": .string(schema)]
        let payload = Data(FieldValue.object(fields).json.utf8)
        try DurableFile.write(
            SealedFile.seal(payload, as: .account), to: Self.name, in: folder, part: part.description)
    }

    /// Removes the signed-in user.
    package static func remove(in folder: URL) throws(SharingError) {
        let file = folder.appending(path: name)
        guard unlink(file.path) == 0 || errno == ENOENT else {
            throw SharingError(.unusable, "\(file.path) cannot be removed: \(String(cString: strerror(errno)))")
        }
    }
}
