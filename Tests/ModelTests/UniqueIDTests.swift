import Testing
import TidemarkModel

@Suite struct `Unique ids` {
    @Test func `the text form is parsed in either case`() {
        let text = "018f3a2b-00ff-7abc-8def-0123456789ab"
        #expect(UniqueID(text)?.description == text)
        #expect(UniqueID(text.uppercased())?.description == text)
    }

    @Test(arguments: [
        "", "018f3a2b", "018f3a2b-00ff-7abc-8def-0123456789a", "018f3a2b-00ff-7abc-8def-0123456789abc",
        "018f3a2b000ff-7abc-8def-0123456789ab", "018f3a2b-00ff-7abc-8def-0123456789ag",
        "018f3a2b-00ff-7abc-8def-0123456789é",
    ])
    func `anything else is not an id`(_ text: String) {
        #expect(UniqueID(text) == nil)
    }

    @Test func `each byte matters, at each index`() {
        let text = Array("018f3a2b-00FF-7abc-8dEf-0123456789aB".utf8)
        for place in text.indices {
            for byte in UInt8.min ... .max {
                var changed = text
                changed[place] = byte
                let isHyphen = [8, 13, 18, 23].contains(place)
                let character = Character(Unicode.Scalar(byte))
                let isFit = isHyphen ? byte == UInt8(ascii: "-") : byte < 128 && character.isHexDigit
                let id = changed.withUnsafeBufferPointer { UniqueID(utf8: $0) }
                #expect((id != nil) == isFit, "\(byte) at \(place)")
                if isFit { #expect(id?.description == String(decoding: changed, as: UTF8.self).lowercased()) }
            }
        }
    }

    @Test func `version 7 ids sort by their time and carry version and variant`() {
        let early = UniqueID.version7(milliseconds: 1_760_000_000_000, random: (.max, .max))
        let late = UniqueID.version7(milliseconds: 1_760_000_000_001, random: (0, 0))
        #expect(early < late)
        #expect(late.description == "0199c820-f401-7000-8000-000000000000".replacingTime(of: late))
        #expect(Array(early.description)[14] == "7")
        #expect("89ab".contains(Array(early.description)[19]))
    }
}

extension String {
    /// The time part is checked by order; only the fixed bits are compared as text.
    fileprivate func replacingTime(of id: UniqueID) -> String {
        String(id.description.prefix(13)) + String(dropFirst(13))
    }
}
