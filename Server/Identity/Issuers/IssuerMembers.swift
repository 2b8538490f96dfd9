import TidemarkModel

/// The members of one object of the file. Members that are not taken are refused at the end, because a misspelt member
/// would silently have no effect.
struct IssuerMembers {
    /// The object's path for messages: `issuers[0]`.
    let path: String
    let object: LocatedJSON
    private var left: [(name: String, value: LocatedJSON)]

    init(_ object: LocatedJSON, _ path: String) throws(Misplaced) {
        guard case .object(let members) = object.value else { throw Misplaced(object, "\(path): must be an object") }
        self.path = path
        self.object = object
        left = members
    }

    mutating func take(_ name: String) -> LocatedJSON? {
        guard let index = left.firstIndex(where: { $0.name == name }) else { return nil }
        return left.remove(at: index).value
    }

    /// Whether the member exists and was not taken yet.
    func holds(_ name: String) -> Bool { left.contains { $0.name == name } }

    func failure(_ name: String, _ value: LocatedJSON?, _ reason: String) -> Misplaced {
        Misplaced(value ?? object, "\(path).\(name): \(reason)")
    }

    /// Takes a text that is not empty.
    mutating func text(_ name: String) throws(Misplaced) -> String? {
        guard let value = take(name) else { return nil }
        return try text(value, name)
    }

    mutating func neededText(_ name: String, _ meaning: String) throws(Misplaced) -> String {
        guard let text = try text(name) else { throw failure(name, nil, "missing: \(meaning)") }
        return text
    }

    /// Takes one text, or a list of texts that is not empty.
    mutating func texts(_ name: String) throws(Misplaced) -> [String]? {
        guard let value = take(name) else { return nil }
        guard case .array(let elements) = value.value else { return [try text(value, name)] }
        guard !elements.isEmpty else { throw failure(name, value, "must not be empty") }
        var texts: [String] = []
        for element in elements { texts.append(try text(element, name)) }
        return texts
    }

    mutating func seconds(_ name: String, in range: ClosedRange<Int64>) throws(Misplaced) -> Duration? {
        guard let value = take(name) else { return nil }
        guard case .plain(.integer(let seconds)) = value.value, range.contains(seconds) else {
            throw failure(
                name, value, "must be a whole number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return .seconds(seconds)
    }

    /// Takes a claim's path: a text with dots between the names, or a list of names.
    mutating func claim(_ name: String) throws(Misplaced) -> ClaimPath? {
        guard let value = take(name) else { return nil }
        return try claim(value, name)
    }

    func claim(_ value: LocatedJSON, _ name: String) throws(Misplaced) -> ClaimPath {
        let path: ClaimPath
        if case .array(let elements) = value.value {
            var names: [String] = []
            for element in elements { names.append(try text(element, name)) }
            path = ClaimPath(names)
        } else {
            path = ClaimPath(try text(value, name))
        }
        guard (1...8).contains(path.names.count), path.names.allSatisfy({ !$0.isEmpty }) else {
            throw failure(name, value, "must name a claim, such as \"sub\", \"firebase.tenant\" or [\"a.b\", \"c\"]")
        }
        return path
    }

    /// Refuses members that were not taken.
    func end(_ known: String) throws(Misplaced) {
        guard let first = left.first else { return }
        throw Misplaced(first.value, "\(path): unknown member \"\(first.name)\"; expected: \(known)")
    }

    private func text(_ value: LocatedJSON, _ name: String) throws(Misplaced) -> String {
        guard case .plain(.string(let text)) = value.value, !text.isEmpty else {
            throw failure(name, value, "must be a text that is not empty")
        }
        return text
    }
}
