import TidemarkModel

/// Reads the member `keys` of an issuer.
struct KeyMembers {
    static let known =
        "\"url\", \"jwks\", \"jwks_file\", \"pem\", \"pem_file\", \"secret\" or \"secret_file\", "
        + "with \"allow_addresses\" and \"trust_roots_file\" for a url"

    private var members: IssuerMembers?
    private let path: String
    private let issuer: LocatedJSON
    private let defaultURL: String?
    private let file: (String) -> [UInt8]?
    private var hasSource = false

    /// - Parameters:
    ///   - value: `nil` for an issuer whose preset supplies the keys.
    ///   - defaultURL: the URL of the preset's keys.
    init(
        _ value: LocatedJSON?, _ path: String, of issuer: LocatedJSON, defaultURL: String?,
        file: @escaping (String) -> [UInt8]?
    ) throws(Misplaced) {
        members = try value.map { value throws(Misplaced) in try IssuerMembers(value, path) }
        self.path = path
        self.issuer = issuer
        self.defaultURL = defaultURL
        self.file = file
    }

    /// Returns the endpoint of the keys; `nil` if all keys are configured.
    mutating func source() throws(Misplaced) -> KeySource? {
        var named: [Network] = []
        for text in try members?.texts("allow_addresses") ?? [] {
            guard let network = Network(text) else {
                throw failure(
                    "allow_addresses", nil, "\"\(text)\" is neither an address nor a network such as 10.0.0.0/8")
            }
            named.append(network)
        }
        let roots = try contents("trust_roots_file")?.bytes
        if let roots, !String(decoding: roots, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") {
            throw failure("trust_roots_file", nil, "holds no certificate in PEM")
        }
        let value = members?.take("url")
        let url: String
        switch value?.value {
        case .plain(.string(let text))?: url = text
        case nil:
            guard let defaultURL, members?.hasKeys != true else { return nil }
            url = defaultURL
        default: throw failure("url", value, "must be a text")
        }
        hasSource = true
        do throws(KeyReadingError) {
            return try KeySource(url: url, named: named, trustRoots: roots)
        } catch {
            throw failure("url", value, error.description)
        }
    }

    /// Returns the keys that are configured.
    mutating func texts(
        algorithms: Set<TokenAlgorithm>
    ) throws(Misplaced) -> [(text: IssuerDraft.KeyText, offset: Int, member: String)] {
        var texts: [(text: IssuerDraft.KeyText, offset: Int, member: String)] = []
        if let value = members?.take("jwks") {
            guard case .object = value.value else { throw failure("jwks", value, "must be an object, a JWK set") }
            var writer = JSONWriter()
            writer.value(value.plain)
            texts.append((.jwks(writer.bytes), value.offset, "jwks"))
        }
        if let (bytes, offset) = try contents("jwks_file") { texts.append((.jwks(bytes), offset, "jwks_file")) }
        if let value = members?.take("pem") {
            guard case .plain(.string(let text)) = value.value else { throw failure("pem", value, "must be a text") }
            texts.append((.pem(text), value.offset, "pem"))
        }
        if let (bytes, offset) = try contents("pem_file") {
            texts.append((.pem(String(decoding: bytes, as: UTF8.self)), offset, "pem_file"))
        }
        if let value = members?.take("secret") {
            guard case .plain(.string(let text)) = value.value else { throw failure("secret", value, "must be a text") }
            texts.append((.secret(try secret(Array(text.utf8), "secret", value)), value.offset, "secret"))
        }
        if let (bytes, offset) = try contents("secret_file") {
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            texts.append((.secret(try secret(Array(line), "secret_file", nil)), offset, "secret_file"))
        }
        guard hasSource || !texts.isEmpty else { throw failure("url", nil, "missing: \(Self.known)") }
        if algorithms == [.hs256], texts.isEmpty {
            throw failure("secret_file", nil, "missing: a secret for HS256 is never fetched from a URL")
        }
        return texts
    }

    func end() throws(Misplaced) { try members?.end(Self.known) }

    private func secret(
        _ bytes: [UInt8], _ name: String, _ value: LocatedJSON?
    ) throws(Misplaced) -> TokenSecret {
        guard let secret = TokenSecret(bytes) else {
            throw failure(name, value, "the secret has \(bytes.count) bytes and needs at least \(TokenSecret.bytesMin)")
        }
        return secret
    }

    private mutating func contents(_ name: String) throws(Misplaced) -> (bytes: [UInt8], offset: Int)? {
        guard let value = members?.take(name) else { return nil }
        guard case .plain(.string(let path)) = value.value else { throw failure(name, value, "must be a path") }
        guard let bytes = file(path) else { throw failure(name, value, "cannot read the file \(path)") }
        return (bytes, value.offset)
    }

    private func failure(_ name: String, _ value: LocatedJSON?, _ reason: String) -> Misplaced {
        members?.failure(name, value, reason) ?? Misplaced(value ?? issuer, "\(path).\(name): \(reason)")
    }
}

extension IssuerMembers {
    /// Whether keys are configured, which override a preset's URL.
    fileprivate var hasKeys: Bool {
        ["jwks", "jwks_file", "pem", "pem_file", "secret", "secret_file"].contains { holds($0) }
    }
}

extension LocatedJSON {
    /// The value without the offsets.
    fileprivate var plain: FieldValue {
        switch value {
        case .plain(let value): value
        case .array(let elements): .array(elements.map(\.plain))
        case .object(let members):
            .object(
                members.reduce(into: Fields()) { fields, member in fields[member.name] = member.value.plain })
        }
    }
}
