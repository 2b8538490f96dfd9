import TidemarkModel

/// One issuer as the file describes it, before its keys are made.
struct IssuerDraft: Sendable {
    /// Keys as the document contains them, or a file that it names.
    enum KeyText: Sendable {
        case jwks([UInt8])
        case pem(String)
        case secret(TokenSecret)
    }

    /// The issuer without its keys.
    private(set) var base: Issuer
    private var texts: [(text: KeyText, offset: Int, member: String)] = []
    private let path: String

    static let members = [
        "preset", "name", "issuer", "audience", "audience_claim", "algorithms", "keys", "user", "workspace", "service",
        "operator", "require", "leeway_seconds", "lifetime_seconds_max",
    ]

    init(_ object: LocatedJSON, _ path: String, file: @escaping (String) -> [UInt8]?) throws(Misplaced) {
        self.path = path
        var members = try IssuerMembers(object, path)
        var preset: IssuerPreset?
        var presetName: String?
        if let value = members.take("preset") {
            guard case .plain(.string(let name)) = value.value else {
                throw members.failure("preset", value, "must be one of \(IssuerPreset.names.joined(separator: ", "))")
            }
            presetName = name
            preset = try IssuerPreset(name, value, &members)
        }
        let given = try members.text("issuer")
        guard let issuer = given ?? preset?.issuer else {
            throw members.failure("issuer", nil, "missing: the value of the tokens' \"iss\"")
        }
        let audience = try members.texts("audience") ?? preset?.audience ?? []
        guard !audience.isEmpty else {
            throw members.failure(
                "audience", nil,
                "missing: the accepted \"aud\" of tokens; without it, tokens for other apps would be accepted")
        }
        base = Issuer(
            name: try members.text("name") ?? presetName ?? issuer, issuer: issuer,
            audienceClaim: try members.claim("audience_claim") ?? ClaimPath(preset?.audienceClaim ?? "aud"),
            audience: audience, algorithms: try members.algorithms() ?? preset?.algorithms ?? [], keys: .none,
            user: try members.nameRule("user", isShort: true) ?? .claim(ClaimPath("sub")),
            workspace: try members.nameRule("workspace", isShort: false) ?? .fixed("default"),
            service: try members.test("service"), operators: try members.test("operator"),
            required: try members.tests("require") ?? preset?.required ?? [], pastTimes: preset?.pastTimes ?? [],
            lifetimeMax: try members.seconds("lifetime_seconds_max", in: 60...2_592_000) ?? Issuer.usualLifetimeMax,
            leeway: try members.seconds("leeway_seconds", in: 0...300) ?? .seconds(60))
        guard !base.algorithms.isEmpty else {
            throw members.failure("algorithms", nil, "missing: of \(IssuerMembers.algorithmNames)")
        }
        if case .fixed = base.user { throw members.failure("user", nil, "must come from a claim") }
        let keys = members.take("keys")
        guard keys != nil || preset != nil else {
            throw members.failure("keys", nil, "missing: \(KeyMembers.known)")
        }
        var reading = try KeyMembers(keys, "\(path).keys", of: object, defaultURL: preset?.keysURL, file: file)
        base.keySource = try reading.source()
        texts = try reading.texts(algorithms: base.algorithms)
        try reading.end()
        try members.end(Self.members.joined(separator: ", "))
    }

    func issuer() async throws(Misplaced) -> Issuer {
        var (keys, skipped): ([VerificationKey], [String]) = ([], [])
        for (text, offset, member) in texts {
            do throws(KeyReadingError) {
                let set: KeySet
                switch text {
                case .jwks(let bytes): set = try await KeySet(jwks: bytes, holdsSecrets: true)
                case .pem(let text): set = try await KeySet(pem: text)
                case .secret(let secret): set = KeySet([await VerificationKey(secret)])
                }
                let fitting = set.keys.filter { base.algorithms.contains($0.algorithm) }
                guard !fitting.isEmpty else {
                    let found = set.keys.map(\.algorithm.rawValue) + set.skipped
                    throw KeyReadingError(
                        "no key for \(base.algorithms.map(\.rawValue).sorted().joined(separator: ", "))"
                            + (found.isEmpty ? "" : "; found: " + found.joined(separator: "; ")))
                }
                keys += fitting
                skipped += set.skipped
            } catch {
                throw Misplaced(offset: offset, "\(path).keys.\(member): \(error)")
            }
        }
        var issuer = base
        issuer.keys = KeySet(keys, skipped: skipped)
        return issuer
    }
}

extension IssuerMembers {
    static let algorithmNames = TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")

    fileprivate mutating func algorithms() throws(Misplaced) -> Set<TokenAlgorithm>? {
        guard let names = try texts("algorithms") else { return nil }
        var algorithms: Set<TokenAlgorithm> = []
        for name in names {
            guard let algorithm = TokenAlgorithm(rawValue: name) else {
                throw failure("algorithms", nil, "\"\(name)\" is none of \(Self.algorithmNames)")
            }
            algorithms.insert(algorithm)
        }
        return algorithms
    }

    /// - Parameter isShort: whether a plain text is allowed, which names a claim.
    fileprivate mutating func nameRule(_ name: String, isShort: Bool) throws(Misplaced) -> NameRule? {
        guard let value = take(name) else { return nil }
        guard case .object = value.value else {
            if isShort { return .claim(try claim(value, name)) }
            throw failure(name, value, "must be {\"fixed\": …}, {\"claim\": …} or {\"template\": …}")
        }
        var members = try IssuerMembers(value, "\(path).\(name)")
        let rule: NameRule
        if let fixed = try members.text("fixed") {
            guard WorkspaceID(checking: fixed) != nil else {
                throw members.failure("fixed", value, "must have 1 to 128 bytes and no control characters")
            }
            rule = .fixed(fixed)
        } else if let path = try members.claim("claim") {
            rule = .claim(path)
        } else if let text = try members.text("template") {
            rule = try members.template(text, value)
        } else {
            throw failure(name, value, "must have one of \"fixed\", \"claim\", \"template\"")
        }
        try members.end("one of \"fixed\", \"claim\", \"template\"")
        return rule
    }

    private func template(_ text: String, _ value: LocatedJSON) throws(Misplaced) -> NameRule {
        let parts = text.split(separator: "{", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = parts[1].firstIndex(of: "}"), !parts[1].hasPrefix("}"),
            !parts[1][parts[1].index(after: end)...].contains("}"), !parts[0].contains("}")
        else {
            throw failure(
                "template", value,
                "must hold one claim in braces, such as \"org-{org_id}\": two could make one name of different claims"
            )
        }
        return .template(
            before: String(parts[0]), ClaimPath(String(parts[1][..<end])),
            after: String(parts[1][parts[1].index(after: end)...]))
    }

    fileprivate mutating func tests(_ name: String) throws(Misplaced) -> [ClaimTest]? {
        guard let value = take(name) else { return nil }
        guard case .array(let elements) = value.value else {
            throw failure(name, value, "must be a list of {\"claim\": …, \"is\": …} or {\"claim\": …, \"has\": …}")
        }
        var tests: [ClaimTest] = []
        for element in elements { tests.append(try test(element, name)) }
        return tests
    }

    fileprivate mutating func test(_ name: String) throws(Misplaced) -> ClaimTest? {
        guard let value = take(name) else { return nil }
        return try test(value, name)
    }

    private func test(_ value: LocatedJSON, _ name: String) throws(Misplaced) -> ClaimTest {
        var members = try IssuerMembers(value, "\(path).\(name)")
        guard let claim = try members.claim("claim") else {
            throw members.failure("claim", nil, "missing: which claim")
        }
        let test: ClaimTest
        if let wanted = members.take("is") {
            guard case .plain(let plain) = wanted.value, plain != .null else {
                throw members.failure("is", wanted, "must be a text, a number, true or false")
            }
            test = ClaimTest(claim: claim, wanted: .value(plain))
        } else if let member = try members.text("has") {
            test = ClaimTest(claim: claim, wanted: .member(member))
        } else {
            throw members.failure("is", nil, "missing: what the claim must be (\"is\"), or have in a list (\"has\")")
        }
        try members.end("\"claim\" with \"is\" or \"has\"")
        return test
    }
}
