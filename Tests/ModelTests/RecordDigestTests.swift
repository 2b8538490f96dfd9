import Testing
import TidemarkModel

@Suite struct RecordDigestTests {
    private struct Sample {
        let key: RecordKey
        let seq: SequenceNumber
        let body: String
        let term: String

        init(_ collection: String, _ id: String, _ seq: SequenceNumber, _ body: String, _ term: String) {
            key = RecordKey(collection: collection, id: UniqueID(id) ?? UniqueID(high: 0, low: 0))
            self.seq = seq
            self.body = body
            self.term = term
        }
    }

    /// Digests that another program computed.
    private static let samples = [
        Sample(
            "messages", "018f3a2b-0000-7000-8000-000000000001", 42, #"{"text":"hi"}"#,
            "09d6adf2f76fcb5075b83545ecdaa6ba"),
        Sample(
            "notes", "018f3a2b-0000-7000-8000-000000000002", 9_007_199_254_740_993, "{}",
            "ad2e69222495cbdefb1d4d33a61ef017"),
        Sample(
            "m\"ü", "00000000-0000-0000-0000-000000000000", 1, #"{"a":[1,2.5,null]}"#,
            "4ed28d9b8f13dafc4ab8ff385dccf005"),
    ]

    private func digest(_ samples: [Sample]) -> RecordDigest {
        var digest = RecordDigest()
        for sample in samples { digest.insert(sample.key, at: sample.seq, body: Array(sample.body.utf8)) }
        return digest
    }

    @Test func `the digest of one record is the first half of a SHA-256`() {
        for sample in Self.samples { #expect(digest([sample]).text == sample.term) }
        #expect(RecordDigest().text == "00000000000000000000000000000000")
    }

    @Test func `digests are added, in any order`() {
        let (a, b, c) = (Self.samples[0], Self.samples[1], Self.samples[2])
        let all = digest([a, b, c])
        #expect(all.text == "05d7a4b0ab19722bbb8e81b1f0c686d6" && all.count == 3)
        #expect(all == digest([c, a, b]))
    }

    @Test func `a repeated record is counted twice`() {
        let a = Self.samples[0]
        #expect(digest([a, a]) != RecordDigest() && digest([a, a]) != digest([a]))
    }

    @Test func `another collection, id, number or body is another digest`() {
        let sample = Self.samples[0]
        let (key, body) = (sample.key, Array(sample.body.utf8))
        var others: [RecordDigest] = []
        for (key, seq, body) in [
            (key, sample.seq, body), (RecordKey(collection: "message", id: key.id), sample.seq, body),
            (RecordKey(collection: key.collection, id: UniqueID(high: 1, low: 1)), sample.seq, body),
            (key, sample.seq + 1, body), (key, sample.seq, Array("{}".utf8)),
        ] {
            var digest = RecordDigest()
            digest.insert(key, at: seq, body: body)
            others.append(digest)
        }
        #expect(Set(others).count == others.count)
    }

    @Test func `a digest is parsed from its text, and nothing else is`() {
        let all = digest(Self.samples)
        #expect(RecordDigest(count: 3, text: all.text) == all)
        for text in ["", "1", String(repeating: "0", count: 33), String(repeating: "G", count: 32), "é" + all.text] {
            #expect(RecordDigest(count: 1, text: text) == nil, "\(text)")
        }
        #expect(RecordDigest(count: -1, text: all.text) == nil)
    }
}
