import ArgumentParser
import Foundation
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel

/// `tidemark accounts import`.
struct AccountsImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import accounts with their passwords.",
        discussion: """
            FILE is what 'firebase auth:export users.json --format=json' writes, with --firebase and a file of the \
            project's parameters, as the Firebase console shows them (Authentication, password hash parameters):

              {"base64_signer_key":"…","base64_salt_separator":"Bw==","rounds":8,"mem_cost":14}

            Users keep their ids, and log in by their address and their existing password. Those without an address \
            are left out and listed; those without a password set one with a token.

            Without --firebase each line of FILE is an account: \
            {"login":"ann@example.com","user":"ann","hash":"$scrypt$ln=15,r=8,p=1$SALT$HASH"}; "user", "hash", \
            "created" (milliseconds) and "disabled" may be missing.

            Existing accounts stay unchanged, so that a second run does no harm.
            """)

    @Argument(help: "The file.")
    var file: String

    @Option(help: ArgumentHelp("The project's parameters, if FILE is an export of Firebase.", valueName: "file"))
    var firebase: String?

    @Option(help: "The reason, for 'tidemark audit'.")
    var why = ""

    @OptionGroup var place: AdminWorkspace
    @OptionGroup var admin: AdminOptions

    private static let accountsPerCall = 500

    func run() async throws {
        let accounts: [Fields]
        do {
            let bytes = try Self.bytes(file)
            if let firebase {
                let project = try FirebaseProject(try Self.bytes(firebase))
                let export = try FirebaseExport(bytes, of: project)
                for user in export.leftOut { print("left out, without an address: \(user.withoutSteering)") }
                accounts = export.accounts
            } else {
                accounts = try Self.lines(bytes)
            }
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure("\(file): \(error)")
        }
        var (added, taken): (Int64, Int) = (0, 0)
        var rest = accounts[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.accountsPerCall)
            rest = rest.dropFirst(some.count)
            var call: Fields = [
                "workspace": .string(place.workspace), "accounts": .array(some.map { .object($0) }),
            ]
            if !why.isEmpty { call["why"] = .string(why) }
            let answer = try await admin.call("accounts/import", body: call.canonicalBytes)
            added += answer.number("added") ?? 0
            guard case .array(let names)? = answer["taken"] else { continue }
            taken += names.count
            for case .string(let name) in names { print("exists already: \(name.withoutSteering)") }
        }
        print("\(Int(added).counted("account")) added, \(taken) existed already")
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("cannot read \(path)")
        }
        return Array(contents)
    }

    private static func lines(_ bytes: [UInt8]) throws -> [Fields] {
        try bytes.split(separator: UInt8(ascii: "\n")).enumerated().compactMap { index, line in
            guard line.contains(where: { $0 > 0x20 }) else { return nil }
            do {
                return try JSONReader.read(Array(line)) { try $0.fields() }
            } catch {
                throw CommandFailure("line \(index + 1): \(error)")
            }
        }
    }
}

/// The parameters of a Firebase project's hashes.
struct FirebaseProject {
    let signerKey: String
    let saltSeparator: String
    /// scrypt's `r`.
    let rounds: Int64
    /// The power of two of scrypt's N.
    let memoryCost: Int64

    init(_ bytes: [UInt8]) throws {
        let fields = try JSONReader.read(bytes) { try $0.fields() }
        guard let signer = fields.text("base64_signer_key"), let separator = fields.text("base64_salt_separator"),
            let rounds = fields.number("rounds"), let memory = fields.number("mem_cost")
        else {
            throw CommandFailure(
                "--firebase: needs base64_signer_key, base64_salt_separator, rounds and mem_cost")
        }
        (signerKey, saltSeparator, self.rounds, memoryCost) = (signer, separator, rounds, memory)
    }

    /// Returns a hash of the export in this server's form.
    func hash(_ hash: String, salt: String) throws -> String {
        let text =
            "$fbscrypt$v=1,n=\(memoryCost),r=\(rounds),p=1,ss=\(saltSeparator),sk=\(signerKey)$\(salt)$\(hash)"
        do throws(PasswordHash.Fault) {
            return try PasswordHash(text).text
        } catch {
            throw CommandFailure("a hash is invalid: \(error); check that the parameters are the project's")
        }
    }
}

/// The accounts in a file of `firebase auth:export`.
struct FirebaseExport {
    private(set) var accounts: [Fields] = []
    /// The ids of users without an address.
    private(set) var leftOut: [String] = []

    init(_ bytes: [UInt8], of project: FirebaseProject) throws {
        var limits = JSONLimits()
        limits.elementsMax = 10_000_000
        let export = try JSONReader.read(bytes, limits: limits) { try $0.fields() }
        guard case .array? = export["users"] else { throw CommandFailure("no member \"users\"") }
        for user in export.list("users") {
            guard let id = user.text("localId") else { throw CommandFailure("a user without \"localId\"") }
            guard let login = user.text("email"), !login.isEmpty else {
                leftOut.append(id)
                continue
            }
            var account: Fields = ["login": .string(login), "user": .string(id)]
            if let hash = user.text("passwordHash"), let salt = user.text("salt"), !hash.isEmpty {
                account["hash"] = .string(try project.hash(hash, salt: salt))
            }
            if let created = user.text("createdAt").flatMap({ Int64($0) }) ?? user.number("createdAt") {
                account["created"] = .integer(created)
            }
            if user["disabled"] == .boolean(true) { account["disabled"] = true }
            accounts.append(account)
        }
    }
}
