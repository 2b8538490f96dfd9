import Testing

@testable import TidemarkModel

@Suite struct TextPatternTests {
    @Test(
        arguments: [
            ("", ["", "a"], []), ("abc", ["abc", "xabcx"], ["ab", ""]), ("^abc$", ["abc"], ["xabc", "abcx", "abc\n"]),
            ("a|bc", ["a", "xbc"], ["b", "c"]), ("^(a|bc)+$", ["abca"], ["", "ab"]),
            ("^a?b*c+$", ["c", "abbc"], ["ab", "aac"]),
            ("^a{2}$", ["aa"], ["a", "aaa"]), ("^a{2,}$", ["aa", "aaaaa"], ["a"]),
            ("^a{1,3}$", ["a", "aaa"], ["", "aaaa"]),
            ("^(ab){0}$", [""], ["ab"]), ("^[a-cx]$", ["b", "x"], ["d", ""]), ("^[^a-c]$", ["d", "é"], ["a", ""]),
            ("^[]]$", [], []), (#"^[\]\-a]$"#, ["]", "-", "a"], ["b"]), ("^[a-]$", ["a", "-"], ["b"]),
            (#"^\d\w\s$"#, ["7_ ", "0a\u{a0}"], ["a_ ", "7é "]), (#"^\D\W\S$"#, ["a!b"], ["7!b", "aab", "a! "]),
            (#"^\.\\\/$"#, [#".\/"#], [#"x\/"#]), (#"^\x41\u00e9\u{1f600}$"#, ["Aé😀"], ["A\u{65}\u{301}😀"]),
            ("^.$", ["a", "😀"], ["", "\n", "ab", "\u{2028}"]), ("^é$", ["é"], ["e\u{301}"]), ("^(?:a)$", ["a"], ["b"]),
            ("^(a*)*$", ["", "aaa"], ["b"]), ("^(|a)+b$", ["b", "aab"], ["a"]),
            ("(^a|b$)", ["ac", "cb"], ["ca", "bc"]),
            ("^[A-Z]{2}-[0-9]+$", ["AB-17"], ["A-17", "AB-"]),
            ("^[^@ ]+@[^@ ]+\\.[a-z]+$", ["a@b.example"], ["a@b", "a b@c.d"]),
        ] as [(String, [String], [String])])
    func `a pattern is found where it should be`(_ source: String, _ found: [String], _ missed: [String]) throws {
        // A bracket at the beginning of a class does not belong to it.
        guard source != "^[]]$" else {
            #expect(throws: PatternError.self) { try TextPattern(source) }
            return
        }
        let pattern = try TextPattern(source)
        for text in found { #expect(pattern.matches(text), "\(source) in \(text.debugDescription)") }
        for text in missed { #expect(!pattern.matches(text), "\(source) not in \(text.debugDescription)") }
    }

    @Test(arguments: [
        ("a)", 2, "without its ("), ("(a", 3, "without its )"), ("[a", 3, "without its ]"),
        ("*a", 1, "nothing to repeat"),
        ("a**", 3, "cannot be repeated"), ("a+?", 3, "lazy"), ("^*", 2, "cannot be repeated"), ("a{2", 4, "write {n}"),
        ("a{x}", 3, "write {n}"), ("a{3,2}", 6, "larger"), ("a{1001}", 6, "up to 1000"), ("}", 1, #"\}"#),
        ("a]", 2, #"\]"#),
        ("(?=a)", 3, "linear time"), ("(?<n>a)", 3, "names"), (#"(a)\1"#, 4, "back references"),
        (#"\bword"#, 1, "word boundaries"),
        (#"\p{L}"#, 1, "Unicode properties"), (#"\q"#, 1, "not supported"), ("a\\", 2, "at the end"),
        ("[z-a]", 5, "end comes before"),
        (#"[\d-z]"#, 6, "between two characters"), ("[]", 3, "without characters"), (#"\x4"#, 4, "hexadecimal"),
        (#"\u{110000}"#, 11, "hexadecimal"), (#"\ud800"#, 7, "hexadecimal"),
    ])
    func `what is not supported is refused by name and position`(_ source: String, _ position: Int, _ reason: String) {
        let error = #expect(throws: PatternError.self) { try TextPattern(source) }
        #expect(error?.reason.contains(reason) == true, "\(source): \(error?.description ?? "")")
        #expect(error?.position == position, "\(source): \(error?.description ?? "")")
    }

    @Test(arguments: [
        "(a{100}){100}", "((a{1000}){1000}){1000}", "(((){1000}){1000}){1000}", "((a?){999}b){999}", "a{500}b{501}",
    ])
    func `counted repetitions are bounded before they are written out`(_ source: String) {
        let error = #expect(throws: PatternError.self) { try TextPattern(source) }
        #expect(error?.reason.contains("too large") == true)
    }

    @Test func `length and depth are bounded`() throws {
        #expect(throws: PatternError.self) { try TextPattern(String(repeating: "a", count: 1_001)) }
        let deep = String(repeating: "(", count: 33) + "a" + String(repeating: ")", count: 33)
        #expect(throws: PatternError.self) { try TextPattern(deep) }
        #expect(try TextPattern(String(deep.dropFirst().dropLast())).matches("a"))
    }

    /// Patterns that take a backtracking engine exponentially many steps.
    @Test(arguments: [
        "^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*b$", "^(a?){30}a{30}$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$",
        "a*a*a*a*a*b",
        ".*.*=.*", "(.*)(.*)(.*)(.*)[^a]$",
    ])
    func `steps are linear in the text, whatever pattern and text`(_ source: String) throws {
        let pattern = try TextPattern(source)
        for letter in ["a", "x", "b"] {
            var before = 0
            for length in [100, 1_000, 10_000] {
                var steps = 0
                _ = pattern.matches(String(repeating: letter, count: length) + "!", steps: &steps)
                #expect(steps <= pattern.stepsMax(length + 1), "\(source): \(steps) steps")
                #expect(before == 0 || steps <= 11 * before, "\(source): \(before), then \(steps)")
                before = steps
            }
        }
    }

    @Test func `an anchored pattern looks no further than it can match`() throws {
        var steps = 0
        #expect(try !TextPattern("^ab").matches(String(repeating: "x", count: 100_000), steps: &steps))
        #expect(steps < 10)
    }

    // MARK: Against another matcher

    /// A random pattern as a tree, and its own matcher, which tries one alternative after the other.
    private indirect enum Tree {
        case letter(Character)
        case any([Character], isNegated: Bool)
        case start, end
        case both(Tree, Tree)
        case either(Tree, Tree)
        case times(Tree, Int, Int?)

        var source: String {
            switch self {
            case .letter(let letter): String(letter)
            case .any(let letters, let isNegated): "[\(isNegated ? "^" : "")\(String(letters))]"
            case .start: "^"
            case .end: "$"
            case .both(let one, let other): one.source + other.source
            case .either(let one, let other): "(\(one.source)|\(other.source))"
            case .times(let part, let min, let max):
                switch (min, max) {
                case (0, nil): "(\(part.source))*"
                case (1, nil): "(\(part.source))+"
                case (0, 1): "(\(part.source))?"
                case (_, nil): "(\(part.source)){\(min),}"
                case (_, let max?): "(\(part.source)){\(min),\(max)}"
                }
            }
        }

        func matches(_ text: [Character], at index: Int, then next: (Int) -> Bool) -> Bool {
            switch self {
            case .letter(let letter): return index < text.count && text[index] == letter && next(index + 1)
            case .any(let letters, let isNegated):
                return index < text.count && letters.contains(text[index]) != isNegated && next(index + 1)
            case .start: return index == 0 && next(index)
            case .end: return index == text.count && next(index)
            case .both(let one, let other):
                return one.matches(text, at: index) { other.matches(text, at: $0, then: next) }
            case .either(let one, let other):
                return one.matches(text, at: index, then: next) || other.matches(text, at: index, then: next)
            case .times(let part, let min, let max):
                if min > 0 {
                    return part.matches(text, at: index) {
                        Tree.times(part, min - 1, max.map { $0 - 1 }).matches(text, at: $0, then: next)
                    }
                }
                if next(index) { return true }
                guard max != 0 else { return false }
                // A repetition that takes nothing would repeat for ever.
                return part.matches(text, at: index) {
                    $0 > index && Tree.times(part, 0, max.map { $0 - 1 }).matches(text, at: $0, then: next)
                }
            }
        }
    }

    private func tree(_ random: inout SplitMix, depth: Int) -> Tree {
        let letters: [Character] = ["a", "b", "c"]
        let kind = Int.random(in: 0..<(depth == 0 ? 4 : 10), using: &random)
        switch kind {
        case 0, 1: return .letter(letters[Int.random(in: 0..<3, using: &random)])
        case 2:
            return .any(
                Array(letters.prefix(Int.random(in: 1...2, using: &random))), isNegated: Bool.random(using: &random))
        case 3:
            let part = Int.random(in: 0..<4, using: &random)
            return part == 0 ? .start : part == 1 ? .end : .letter("a")
        case 4, 5, 6: return .both(tree(&random, depth: depth - 1), tree(&random, depth: depth - 1))
        case 7: return .either(tree(&random, depth: depth - 1), tree(&random, depth: depth - 1))
        default:
            let min = Int.random(in: 0...2, using: &random)
            let max: Int? = Bool.random(using: &random) ? nil : min + Int.random(in: 0...2, using: &random)
            return .times(tree(&random, depth: depth - 1), min, max)
        }
    }

    @Test func `random patterns agree with a matcher that tries one alternative after the other`() throws {
        var random = SplitMix(seed: 44)
        var found = 0
        for _ in 0..<4_000 {
            let tree = tree(&random, depth: 4)
            let pattern = try TextPattern(tree.source)
            for _ in 0..<6 {
                let length = Int.random(in: 0...7, using: &random)
                let text = (0..<length).map { _ in ["a", "b", "c"][Int.random(in: 0..<3, using: &random)] as Character }
                let expected = (0...text.count).contains { tree.matches(text, at: $0) { _ in true } }
                #expect(pattern.matches(String(text)) == expected, "\(tree.source) in \(String(text))")
                if expected { found += 1 }
            }
        }
        #expect((4_000...22_000).contains(found), "\(found) of 24000 are found")
    }
}
