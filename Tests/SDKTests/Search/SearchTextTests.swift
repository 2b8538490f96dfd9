import Foundation
import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

/// A text and a typed query are normalised in one way: case, accents, composition and width are ignored, each
/// pictograph is a word, and missing words are not found.
@Suite(.timeLimit(.minutes(5))) struct SearchTextTests {
    private static let schema = SearchTests.schema

    private func bench(_ texts: [String]) throws -> Bench {
        let bench = try Bench(Self.schema)
        for (index, text) in texts.enumerated() {
            let key = RecordKey.note(UInt64(index + 1))
            try bench.write(UInt64(index + 1), .create(key, ["text": .string(text)] as Fields).inRoom(1))
        }
        return bench
    }

    private func found(_ bench: Bench, _ typed: String) async throws -> [String] {
        let query = try SearchQuery(
            try bench.database.table("notes"), SearchTerms(typed), where: nil, order: .relevance, limit: 99, in: nil)
        return try await bench.database.readIndexed { db in
            try query.fetch(db).compactMap { found in
                guard case .string(let text)? = found.row.record.fields["text"] else { return nil }
                return text
            }
        }.sorted()
    }

    /// Pairs of one word in two spellings.
    private static let spellings: [(String, String)] = [
        ("ΛΟΓΟΣ", "λόγος"), ("Ἀθῆναι", "αθηναι"), ("Ἅιδης", "αιδης"), ("ёлка", "ЕЛКА"), ("Київ", "київ"),
        ("Straße", "STRASSE"),
        ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"), ("أحمد", "احمد"), ("محـــمد", "محمد"), ("می‌خواهم", "میخواهم"),
        ("한글".decomposedStringWithCanonicalMapping, "한글"), ("ガギグ".decomposedStringWithCanonicalMapping, "ガギグ"),
        ("ぱんだ".decomposedStringWithCanonicalMapping, "ぱんだ"), ("ｶﾞｷﾞ", "ガギ"), ("Ｔｉｄｅ１２", "tide12"), ("ﬁnance", "finance"),
        ("İstanbul", "istanbul"), ("ISTANBUL", "ıstanbul"), ("Ångström", "angstrom"), ("Việt Nam", "viet nam"),
        ("m²", "M2"),
        ("हिन्दी".decomposedStringWithCanonicalMapping, "हिन्दी"), ("क़लम", "कलम"), ("Ⅷ", "viii"),
        ("soft\u{ad}hyphen", "softhyphen"),
        ("e\u{301}te\u{301}", "ÉTÉ"), ("ǅemal", "ǆemal"), ("ſtrand", "Strand"), ("Կարմիր", "կարմիր"), ("ⲀⲂ", "ⲁⲃ"),
        ("ᲘᲐ", "იᲐ"),
    ]

    @Test(arguments: spellings) func `a word is found in each of its spellings, by its first letters`(
        one: String, other: String
    ) async throws {
        let bench = try bench(["before \(one), after", "before \(other), after", "none of it"])
        for typed in [one, other, "after \(one)", one.uppercased(), other.uppercased(), String(other.prefix(2))] {
            #expect(try await found(bench, typed).count == 2, "\(typed)")
        }
    }

    @Test func `signs that distinguish words are not ignored`() async throws {
        let bench = try bench(["か", "が", "कुल", "कल", "กา", "กี", "한", "하", "ハ", "パ"])
        for text in ["か", "が", "กา", "กี", "한", "ハ", "パ", "कुल"] { #expect(try await found(bench, text) == [text]) }
        // This is the beginning of another.
        #expect(try await found(bench, "하") == ["하"])
        #expect(try await found(bench, "कल") == ["कल"])
    }

    /// One pictograph of each kind: plain, with a selector, of several people, with a tone, flags, keys, and signs that
    /// are letters too.
    static let pictures = [
        "⭐", "❤️", "❤", "☀️", "☎️", "✂️", "✈️", "✔️", "⌚", "⌛", "⏰", "⏳", "▶️", "◀️", "☑️", "♥️", "♻️", "⚡", "⛄", "⬛", "⬆️",
        "↗️", "↩️", "➡️", "⤴️", "〰️", "〽️", "㊗️", "㊙️", "©️", "®️", "™️", "ℹ️", "Ⓜ️", "‼️", "⁉️", "🀄", "🃏", "🅰️", "🆎", "🆗",
        "🈁", "🈚", "🈯", "🉐", "🌍", "🎉", "😀", "🤣", "🥲", "🫠", "🫶", "🪿", "🛜", "👍", "👍🏽", "👩‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🏴‍☠️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "🇩🇪", "🇫🇷", "1️⃣", "#️⃣", "*️⃣", "🔟", "🧑🏾‍🚀", "🚀", "🩷",
    ]

    @Test func `each pictograph is a word that is found, and finds none of another's records`() async throws {
        let others = ["milk only", "tm i m c r 1 !! !?", "10", "ココ 祝 秘 無 指 得"]
        let bench = try bench(Self.pictures.map { "with\($0)in" } + others)
        for picture in Self.pictures {
            let all = try await found(bench, picture)
            #expect(all.contains("with\(picture)in"), "\(picture)")
            let key = picture.unicodeScalars.filter { $0 != "\u{fe0f}" }
            // Pictographs that begin with it continue it: a person's, a person with a tone.
            for text in all {
                let rest = String(text.dropFirst(4).dropLast(2)).unicodeScalars.filter { $0 != "\u{fe0f}" }
                #expect(text.hasPrefix("with") && rest.starts(with: key), "\(picture) is not in \(text)")
            }
        }
    }

    @Test func `a missing pictograph finds nothing, whatever else is typed`() async throws {
        let bench = try bench(["milk only", "party 🎉 now", "🇩🇪🇫🇷"])
        for picture in Self.pictures where !["🎉", "🇩🇪", "🇫🇷"].contains(picture) {
            #expect(try await found(bench, "\(picture) milk") == [], "\(picture)")
            #expect(try await found(bench, picture) == [], "\(picture)")
            #expect(try await found(bench, "milk\(picture)") == [], "\(picture)")
        }
        #expect(try await found(bench, "🎉 now") == ["party 🎉 now"])
        // The end of one flag and the beginning of the next are no flag.
        #expect(try await found(bench, "🇪🇫") == [])
        #expect(try await found(bench, "🇫🇷") == ["🇩🇪🇫🇷"])
        #expect(try await found(bench, "milk, -- !") == ["milk only"])
    }

    @Test func `a snippet shows the record's text`() async throws {
        let bench = try bench(["Ὁ ΛΌΓΟΣ ἦν", "say ｶﾞｷﾞ twice", "a 👩‍💻 at work", "שָׁלוֹם לך", "㍿ and more", "ﷺ said", "ไทย"])
        func marked(_ typed: String) async throws -> [String] {
            let query = try SearchQuery(
                try bench.database.table("notes"), SearchTerms(typed), where: nil, order: .relevance, limit: 9,
                in: nil)
            let snippets = try await bench.database.readIndexed { db in try query.fetch(db).map(\.snippet) }
            return snippets.map { snippet in
                let pieces = SearchSnippet(marked: snippet).pieces
                return pieces.map { $0.isMatch ? "[\($0.text)]" : $0.text }.joined()
            }
        }
        #expect(try await marked("λογος") == ["Ὁ [ΛΌΓΟΣ] ἦν"])
        #expect(try await marked("ガギ") == ["say [ｶﾞｷﾞ] twice"])
        #expect(try await marked("👩") == ["a [👩‍💻] at work"])
        #expect(try await marked("שלום") == ["[שָׁלוֹם] לך"])
        #expect(try await marked("株式会社 more") == ["[㍿] and [more]"])
        #expect(try await marked("ไทย") == ["[ไทย]"])
        for typed in ["会社", "会 株", "said الله", "صلى"] {
            #expect(try await marked(typed).allSatisfy { $0.filter { !"[]".contains($0) }.count < 15 }, "\(typed)")
        }
    }

    @Test func `an index that an earlier version tokenised differently is rebuilt`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("x.sqlite")
        for round in 1...2 {
            let bench = try Bench(path: path, Self.schema)
            if round == 1 {
                try bench.write(1, Mutation.create(.note(1), ["text": "Ёлка"]).inRoom(1))
                #expect(try await bench.found("елка", in: "notes") == 1)
                // The state that the version before would have left.
                try await bench.database.writer.write { db in
                    let index = SearchIndex(try bench.database.table("notes").collection)
                    try index.forget(db)
                    try db.execute(
                        sql: """
                            PRAGMA writable_schema = 1;
                            UPDATE sqlite_master SET sql = replace(sql, '\(SearchTokenizer.name) \(SearchTokenizer.version)',
                                '\(SearchTokenizer.name) 1') WHERE sql LIKE 'CREATE VIRTUAL TABLE%';
                            PRAGMA writable_schema = 0;
                            UPDATE tidemark_indexed SET through = 99;
                            """)
                }
                #expect(try await bench.found("елка", in: "notes") == 0)
            } else {
                #expect(try await bench.found("елка", in: "notes") == 1)
            }
            try bench.database.close()
        }
    }
}

extension Mutation {
    fileprivate func inRoom(_ room: UInt64) -> Mutation {
        guard case .create(let fields) = action else { return self }
        return .create(key, fields.inRoom(room))
    }
}
