import Testing
import TidemarkModel
import TidemarkStore

/// Names of blobs are found wherever an app writes them.
@Suite struct BlobNameSearchTests {
    private static let digest = Blob.filled(with: 1, count: 1).digest
    private static let other = Blob.filled(with: 2, count: 1).digest

    private func found(in text: String, wanted: Set<BlobDigest> = [digest]) -> Set<BlobDigest> {
        var search = BlobNameSearch(for: wanted)
        search.look(through: Array(text.utf8))
        return search.found
    }

    @Test(arguments: [
        #"{"file":"\#(digest)"}"#, "\(digest)", #"{"text":"see blob:\#(digest), and more"}"#, #"["\#(digest)x"]"#,
        #"{"f":"abc\#(digest)0"}"#, #"{"f":"\n\#(digest)\n"}"#,
    ])
    func `a digest is found as a value, in a text, in a list and among other digits`(_ text: String) {
        #expect(found(in: text) == [Self.digest])
    }

    @Test func `escaped digits are digits`() {
        let escaped = Self.digest.text.utf8.map { "\\u00" + String($0, radix: 16) }.joined()
        #expect(found(in: "{\"f\":\"\(escaped)\"}") == [Self.digest])
        #expect(found(in: "{\"f\":\"\(escaped.uppercased().replacing("\\U", with: "\\u"))\"}") == [Self.digest])
    }

    @Test func `a cut, upper-case or divided digest is no name`() {
        for text in [
            String(Self.digest.text.dropLast()), Self.digest.text.uppercased(),
            "\(Self.digest.text.prefix(32)) \(Self.digest.text.suffix(32))", "\\u00", "\\u003", "\\",
        ] { #expect(found(in: text).isEmpty, "\(text)") }
    }

    @Test func `only requested digests are found, also beside one another`() {
        let text = "\(Self.digest)\(Self.other)"
        #expect(found(in: text, wanted: [Self.digest, Self.other]) == [Self.digest, Self.other])
        #expect(found(in: text, wanted: [Self.other]) == [Self.other])
    }
}
