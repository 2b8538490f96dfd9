public import Foundation
package import TidemarkModel

/// A value that the app published under a name, with its age. Later changes are not in it.
public struct PublishedValue<Value: Sendable>: Sendable {
    /// The published value.
    public let value: Value
    /// The time of publishing, by the device's clock.
    public let date: Date
    /// The user for whom it was published.
    public let account: String

    /// Creates a value of a stand-in, for previews of a widget.
    public init(_ value: Value, date: Date, account: String) {
        (self.value, self.date, self.account) = (value, date, account)
    }

    /// Returns the time since publishing; 0 when the clock went back.
    public func age(at now: Date) -> Duration { .seconds(max(0, now.timeIntervalSince(date))) }
}

extension PublishedValue: Equatable where Value: Equatable {}

/// The files of published values.
package enum PublishedFiles {
    fileprivate struct Body<Value>: Sendable where Value: Sendable {
        var account: String
        var published: Milliseconds
        var value: Value
    }

    private static func folder(in shared: URL) -> URL { shared.appending(path: "published") }

    private static func check(_ name: String) throws(SharingError) {
        let isPlain = name.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                || byte == 95
        }
        guard isPlain, (1...64).contains(name.utf8.count) else {
            throw SharingError(.name, "\"\(name)\": a name has 1 to 64 letters, digits, - and _")
        }
    }

    /// Replaces the value under the name; if the new value is refused, the old one stays.
    package static func write(
        _ value: some Encodable & Sendable, _ name: String, of account: UserID, at now: Milliseconds, in shared: URL,
        part: UniqueID, _ limits: SharingLimits
    ) throws {
        try check(name)
        let payload: Data
        do {
            payload = try JSONEncoder().encode(Body(account: account.text, published: now, value: value))
        } catch { throw SharingError(.coding, "\(name): the value cannot be encoded: \(error)") }
        guard payload.count <= limits.maxPublishedBytes else {
            throw SharingError(
                .tooLarge, "\(name): \(payload.count) bytes; the limit is \(limits.maxPublishedBytes)")
        }
        try DurableFile.write(
            SealedFile.seal(payload, as: .published), to: name, in: folder(in: shared), part: part.description,
            isDurable: false)
    }

    /// Returns the value; `nil` when nothing is published under the name, or only for another user.
    static func read<Value: Decodable & Sendable>(
        _ name: String, of account: UserID, in shared: URL, _ limits: SharingLimits
    ) throws(SharingError) -> PublishedValue<Value>? {
        try check(name)
        let file = folder(in: shared).appending(path: name)
        let payload: Data?
        do throws(SealedFile.Fault) {
            payload = try SealedFile.read(file, as: .published, bytesMax: limits.maxPublishedBytes)
        } catch { throw error.named(file) }
        guard let payload else { return nil }
        do {
            let body = try JSONDecoder().decode(Body<Value>.self, from: payload)
            guard body.account == account.text else { return nil }
            let date = Date(timeIntervalSince1970: Double(body.published) / 1_000)
            return PublishedValue(body.value, date: date, account: body.account)
        } catch { throw SharingError(.coding, "\(name): the published value is not a \(Value.self): \(error)") }
    }

    /// Deletes everything that is published.
    package static func remove(in shared: URL) throws {
        let folder = folder(in: shared)
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.removeItem(at: folder)
    }
}

extension PublishedFiles.Body: Encodable where Value: Encodable {}
extension PublishedFiles.Body: Decodable where Value: Decodable {}
