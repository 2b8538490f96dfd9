import Testing

@testable import TidemarkIdentity

/// Hashes of passwords, ours and Firebase's (R-126).
@Suite struct PasswordHashTests {
    static let firebase =
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,"
        + "sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
        + "$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="

    /// The highest cost that a test may have.
    private let cost: ScryptCost
    private let salt = [UInt8](0..<16)

    init() throws { cost = try #require(ScryptCost(rounds: 4)) }

    @Test func `scrypt gives the results of RFC 7914`() throws {
        let cost = try #require(ScryptCost(rounds: 10, blockSize: 8, parallelism: 16))
        let hash = try cost.hash(Array("password".utf8), salt: Array("NaCl".utf8), count: 64)
        let hex = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(
            hex == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
    }

    @Test func `a hash made by Firebase matches its password, and no other`() throws {
        let hash = try PasswordHash(Self.firebase)
        #expect(try hash.isOf(Password("user1password")))
        #expect(try !hash.isOf(Password("user2password")))
        #expect(hash.text == Self.firebase)
        #expect(PasswordHash.scheme(of: Self.firebase) == "fbscrypt")
        // The form in which other programs write base64.
        let plain = Self.firebase.replacing("+", with: "-").replacing("/", with: "_").replacing("==", with: "")
        #expect(try PasswordHash(plain) == hash)
    }

    @Test func `the parameters of a hash are in its text, and are used to check it`() throws {
        let password = try Password(chosen: "correct horse")
        let hash = try PasswordHash(of: password, cost, salt: salt)
        #expect(hash.text.hasPrefix("$scrypt$ln=4,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$"))
        let read = try PasswordHash(hash.text)
        #expect(read == hash && read.text == hash.text)
        #expect(try read.isOf(password))
        #expect(try !read.isOf(Password("correct horsf")))
        #expect(try !PasswordHash(hash.text.replacing("ln=4", with: "ln=5")).isOf(password))
    }

    @Test func `a hash at the usual cost fits into the allowed memory`() throws {
        let password = try Password(chosen: "correct horse")
        let hash = try PasswordHash(of: password, .usual, salt: salt)
        #expect(hash.text.hasPrefix("$scrypt$ln=17,r=8,p=1$"))
    }

    @Test(arguments: [
        "", "$", "x", "$scrypt$ln=17,r=8,p=1$AAAA", "$scrypt$ln=17,r=8,p=1$$AAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=17,r=8$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA", "$scrypt$ln=17,r=8,p=1$AAAAAAAA$AAAA",
        "$scrypt$ln=17,ln=1,r=8,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=+17,r=8,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA", "$scrypt$ln=17,r=8,p=1$AA*A$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19,m=65536$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        // More memory, or more work, than a useful hash needs.
        "$scrypt$ln=21,r=8,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=19,r=8,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=17,r=8,p=16$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=0,r=8,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=17,r=0,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=16,r=1,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=9223372036854775807,r=8,p=1$AAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$fbscrypt$v=2,n=14,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA", "$fbscrypt$v=1,n=14,r=8,p=1$AAAA$AAAA",
        "$fbscrypt$v=1,n=14,r=8,p=1,sk=AAAA$AAAA$AAAAAAAA",
    ])
    func `an invalid or too expensive hash is refused before anything is computed`(_ text: String) {
        #expect(throws: PasswordHash.Fault.self) { try PasswordHash(text) }
    }

    @Test func `a text longer than any hash is not parsed`() {
        let text = "$scrypt$ln=4,r=8,p=1$" + String(repeating: "A", count: 1_100) + "$AAAAAAAAAAAAAAAAAAAAAA"
        #expect(throws: PasswordHash.Fault.self) { try PasswordHash(text) }
    }

    @Test func `a password is the same however a keyboard encodes it, and its case matters`() throws {
        let hash = try PasswordHash(of: Password(chosen: "Ren\u{e9}e au caf\u{e9}"), cost, salt: salt)
        #expect(try hash.isOf(Password("Rene\u{301}e\u{a0}au\u{2003}cafe\u{301}")))
        #expect(try !hash.isOf(Password("ren\u{e9}e au caf\u{e9}")))
        #expect(try !hash.isOf(Password("Renee au cafe")))
    }

    @Test func `Firebase hashes the typed bytes`() throws {
        let (composed, apart) = (try Password("caf\u{e9} caf\u{e9}"), try Password("cafe\u{301} cafe\u{301}"))
        let bytes = try cost.hash(Array("cafe\u{301} cafe\u{301}".utf8), salt: salt + [7], count: 32)
        #expect(apart.given != composed.given && apart.normal == composed.normal)
        #expect(try bytes == cost.hash(apart.given, salt: salt + [7], count: 32))
    }

    @Test func `a new password has 8 characters to 1024 bytes, and none that no keyboard types`() throws {
        func fault(_ text: String) -> Password.Fault? {
            do throws(Password.Fault) {
                _ = try Password(chosen: text)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault("") == .empty && fault("1234567") == .tooShort && fault("12345678") == nil)
        // Eight letters with separate accents are eight characters.
        #expect(fault("e\u{301}e\u{301}e\u{301}e\u{301}") == .tooShort)
        #expect(fault(String(repeating: "\u{1F600}", count: 256)) == nil)
        #expect(fault(String(repeating: "\u{1F600}", count: 256) + "x") == .tooLong)
        // Longer in the normalised form than as it was typed.
        #expect(fault(String(repeating: "\u{1D160}", count: 250)) == .tooLong)
        #expect(fault("1234567\u{0}9") == .control)
        // An attempt may be anything that was once chosen elsewhere.
        #expect((try? Password("short")) != nil)
        #expect("\(try Password("secret word"))" == "Password(redacted)")
    }

    @Test func `a name is the same however it is typed, and has no invisible characters`() {
        #expect(LoginName(" Ann@Example.COM\n")?.text == "ann@example.com")
        #expect(LoginName("\u{ff21}nn")?.text == "ann")
        #expect(LoginName("Stra\u{df}e") == LoginName("stra\u{df}e"))
        #expect(LoginName("cafe\u{301}") == LoginName("CAF\u{c9}"))
        for text in ["", "  ", "a b", "a\u{0}", "a\u{200b}b", "a\tb", "a\u{202e}b", String(repeating: "a", count: 257)]
        {
            #expect(LoginName(text) == nil, "\(text)")
        }
    }
}
