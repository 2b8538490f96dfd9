import Testing
import Tidemark

@testable import TidemarkTerminal

@Suite struct MemberNamesTests {
    private func shown(_ names: [String: String]) -> [String: String] {
        let users = Dictionary(uniqueKeysWithValues: names.map { (UserID($0.key), $0.value) })
        let members = MemberNames(users, account: UserID("ann"))
        return Dictionary(uniqueKeysWithValues: names.keys.map { ($0, members.name(UserID($0))) })
    }

    @Test func `a name that only one member has is shown unchanged`() {
        #expect(shown(["ann": "Ann", "bob": "Bob", "cid": "cid"]) == ["ann": "Ann", "bob": "Bob", "cid": "cid"])
    }

    @Test func `two members with one name are distinguished by their ids`() {
        #expect(
            shown(["bob": "Alice", "cid": "Alice", "dan": "Dan"])
                == ["bob": "Alice (bob)", "cid": "Alice (cid)", "dan": "Dan"])
        // Names that look the same are treated as the same: case, width, spaces, invisible characters.
        for twin in ["alice", "Ａｌｉｃｅ", "Al ice", "Ali\u{200b}ce", " Alice\u{00a0}"] {
            #expect(shown(["bob": "Alice", "cid": twin])["bob"] == "Alice (bob)", "\(twin)")
        }
    }

    @Test func `a name that is another member's id is shown with its own`() {
        #expect(shown(["bob": "bob", "cid": "Bob"]) == ["bob": "bob", "cid": "Bob (cid)"])
        #expect(shown(["bob": "Bert", "cid": "bob"])["cid"] == "bob (cid)")
    }

    @Test func `the word for the user is not accepted as another user's name`() {
        let members = MemberNames([UserID("bob"): "me", UserID("me"): "me"], account: UserID("ann"))
        #expect(members.name(UserID("bob")) == "me (bob)")
        #expect(members.name(UserID("me")) == "me (me)")
        #expect(members.sender(UserID("ann"), claimed: "Zed") == "me")
    }

    @Test func `a name cannot take the form of another one, nor end early`() {
        #expect(shown(["bob": "Alice (cid)"])["bob"] == "Alice (cid) (bob)")
        #expect(shown(["bob": "cid: hello"])["bob"] == #"cid\u{3a} hello"#)
        #expect(shown(["bob": "a\u{1b}[2J\u{202e}b\nc"])["bob"] == #"a␛[2J\u{202e}b c"#)
    }

    @Test func `an invisible name is replaced by the id`() {
        let empty = ["", " ", "\u{200b}", "\u{2060}\u{200d}\u{feff}", "\u{3164}", "\u{2800}", "\u{fe0f}", "\u{e0041}"]
        for name in empty {
            #expect(shown(["bob": name, "cid": "Cid"])["bob"] == "bob", "\(name.unicodeScalars.map(\.value))")
        }
        // Two of them, and a user who takes the id as a name.
        #expect(
            shown(["bob": "\u{200b}", "cid": "\u{200c}", "dan": "bob"])
                == ["bob": "bob", "cid": "cid", "dan": "bob (dan)"])
        #expect(shown(["me": "\u{200b}"])["me"] == "me (me)")
    }

    @Test func `names are compared as they are shown, also after the cut`() {
        let long = String(repeating: "A", count: 128)
        #expect(
            shown(["bob": long + "x", "cid": long + "y"]) == ["bob": "\(long) (bob)", "cid": "\(long) (cid)"])
        func tower(_ count: Int) -> String { "Ann" + String(repeating: "\u{301}", count: count) }
        #expect(shown(["bob": tower(20), "cid": tower(30)])["bob"] == SafeText.line(tower(20)) + " (bob)")
        #expect(shown(["bob": "Alice （cid）"])["bob"] == "Alice （cid） (bob)")
    }

    @Test func `a user who is no longer a member is shown with the id, whatever the message claims`() {
        let members = MemberNames([UserID("bob"): "Bob"], account: UserID("ann"))
        #expect(members.sender(UserID("eve"), claimed: "Bob") == "Bob (eve)")
        #expect(members.sender(UserID("eve"), claimed: "Eve") == "Eve (eve)")
        #expect(members.sender(UserID("eve"), claimed: nil) == "eve")
    }
}
