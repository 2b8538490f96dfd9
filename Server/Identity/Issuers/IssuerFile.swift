import TidemarkModel

/// The issuers that a file names, checked as far as possible without making keys.
///
/// ```
/// {"issuers": [{"preset": "firebase", "project": "my-app"}]}
/// ```
/// `deploy/identity.md` describes the other members.
package struct IssuerFile: Sendable {
    private static let issuersMax = 32

    private let bytes: [UInt8]
    private let drafts: [IssuerDraft]

    /// - Parameter file: returns the contents of a file that the document names; `nil` if it cannot be read.
    /// - Throws: ``IssuerFileError`` for the first fault.
    package init(_ bytes: [UInt8], file: @escaping (String) -> [UInt8]?) throws(IssuerFileError) {
        self.bytes = bytes
        do throws(Misplaced) {
            drafts = try Self.drafts(bytes, file: file)
        } catch {
            throw error.located(in: bytes)
        }
    }

    /// Returns the issuers, with the keys that are configured.
    ///
    /// - Throws: ``IssuerFileError`` for invalid keys.
    package func issuers() async throws(IssuerFileError) -> [Issuer] {
        var issuers: [Issuer] = []
        for draft in drafts {
            do throws(Misplaced) {
                issuers.append(try await draft.issuer())
            } catch {
                throw error.located(in: bytes)
            }
        }
        return issuers
    }

    private static func drafts(_ bytes: [UInt8], file: @escaping (String) -> [UInt8]?) throws(Misplaced)
        -> [IssuerDraft]
    {
        let document: LocatedJSON
        do {
            document = try LocatedJSON(bytes)
        } catch let error as JSONError {
            throw Misplaced(offset: error.offset, "not JSON: \(error.reason)")
        } catch {
            throw Misplaced(offset: 0, "not JSON: \(error)")
        }
        var members = try IssuerMembers(document, "the document")
        guard let list = members.take("issuers"), case .array(let elements) = list.value else {
            throw Misplaced(document, "the document: must have a list \"issuers\"")
        }
        try members.end("\"issuers\"")
        guard (1...issuersMax).contains(elements.count) else {
            throw Misplaced(list, "issuers: \(elements.count) of them; there must be 1 to \(issuersMax)")
        }
        var drafts: [IssuerDraft] = []
        for (index, element) in elements.enumerated() {
            let draft = try IssuerDraft(element, "issuers[\(index)]", file: file)
            for (earlier, other) in drafts.enumerated() {
                if other.base.issuer == draft.base.issuer {
                    throw Misplaced(
                        element,
                        "issuers[\(index)].issuer: the same as that of issuers[\(earlier)]; give both audiences in one")
                }
                if other.base.name == draft.base.name {
                    throw Misplaced(
                        element, "issuers[\(index)].name: \"\(draft.base.name)\" is the name of issuers[\(earlier)] too"
                    )
                }
            }
            drafts.append(draft)
        }
        return drafts
    }
}
