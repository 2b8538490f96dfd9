/// Checks an expression against the collection whose records it judges: names, types and cost.
struct RuleChecker {
    /// An expression's type, and the largest size of its value: elements of a list or map, bytes of a text.
    struct Known {
        var type: RuleType
        var size = 0
    }

    private let fields: [String: FieldSchema]
    private var names: [(name: String, known: Known)] = []
    /// The steps that an evaluation needs at most.
    private(set) var cost = 0
    /// The number of evaluations of the present part.
    private var repetitions = 1

    /// The size that is assumed of a text without a `max`, such as an element of a set.
    private static let textSize = 128

    init(_ fields: [FieldSchema]) {
        self.fields = Dictionary(fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Checks the whole expression of a rule.
    mutating func check(_ node: RuleNode) throws(RuleError) {
        let known = try known(node)
        guard known.type == .boolean || known.type == .any else {
            throw RuleError(node.position, "a rule is true or false, and this is \(known.type)")
        }
        guard cost <= RuleLimits.stepsMax else {
            throw RuleError(
                node.position,
                """
                may need \(cost) steps; the limit is \(RuleLimits.stepsMax): give the sets, maps and texts that it reads \
                a smaller \"max\"
                """)
        }
    }

    private mutating func known(_ node: RuleNode) throws(RuleError) -> Known {
        spend(1)
        switch node.kind {
        case .literal(let value):
            let size = if case .string(let text) = value { text.utf8.count } else { 0 }
            return Known(type: RuleType(value), size: size)
        case .variable(let variable): return Self.known(variable)
        case .name(let name):
            if let bound = names.last(where: { $0.name == name }) { return bound.known }
            throw RuleError(node.position, unknown(name))
        case .select(let operand, let field): return try select(operand, field, node.position)
        case .has(let operand, let field):
            _ = try select(operand, field, node.position)
            return Known(type: .boolean)
        case .index(let operand, let index): return try self.index(operand, index)
        case .not(let operand):
            try require(operand, "! applies to true or false") { $0 == .boolean }
            return Known(type: .boolean)
        case .negate(let operand):
            return Known(type: try require(operand, "- applies to a number") { $0.isNumber }.type)
        case .binary(let known, let left, let right): return try binary(known, left, right, node.position)
        case .conditional(let condition, let yes, let no):
            try require(condition, "? follows true or false") { $0 == .boolean }
            let (one, other) = (try known(yes), try known(no))
            return Known(type: one.type.joined(other.type), size: max(one.size, other.size))
        case .list(let elements):
            var type: RuleType?
            for element in elements {
                let element = try known(element).type
                type = type?.joined(element) ?? element
            }
            return Known(type: .list(type ?? .any), size: elements.count)
        case .map(let pairs):
            for pair in pairs {
                try require(pair.key, "a key of a map is a text") { $0 == .text }
                _ = try known(pair.value)
            }
            return Known(type: .map(.any), size: pairs.count)
        case .call(let function, let arguments): return try call(function, arguments)
        case .macro(_, let range, let variable, let predicate):
            let range = try require(range, "\(variable) stands for an element of a set, list or map") { $0.isContainer }
            try inside(range, variable) { (checker) throws(RuleError) in
                try checker.require(predicate, "the condition for \(variable) is true or false") { $0 == .boolean }
            }
            return Known(type: .boolean)
        }
    }

    private mutating func inside(
        _ range: Known, _ variable: String, _ body: (inout RuleChecker) throws(RuleError) -> Known
    ) throws(RuleError) {
        let element: RuleType =
            switch range.type {
            case .list(let element): element
            case .map: .text
            case .any, .null, .boolean, .integer, .double, .text, .record: .any
            }
        let outer = repetitions
        repetitions = Self.product(repetitions, max(1, range.size))
        names.append((variable, Known(type: element, size: Self.textSize)))
        _ = try body(&self)
        names.removeLast()
        repetitions = outer
    }

    /// Checks a part whose type is restricted; a type known only at the evaluation passes.
    @discardableResult
    private mutating func require(
        _ node: RuleNode, _ reason: String, _ test: (RuleType) -> Bool
    ) throws(RuleError) -> Known {
        let known = try known(node)
        guard known.type == .any || test(known.type) else {
            throw RuleError(node.position, "\(reason), and \(node.text.excerpt()) is \(known.type)")
        }
        return known
    }

    private mutating func spend(_ steps: Int) {
        cost = min(Int(Int32.max), cost + Self.product(repetitions, steps))
    }

    private static func product(_ one: Int, _ other: Int) -> Int {
        let (product, overflows) = one.multipliedReportingOverflow(by: other)
        return overflows ? Int(Int32.max) : min(product, Int(Int32.max))
    }

    private static func known(_ variable: RuleVariable) -> Known {
        switch variable {
        case .before, .after: Known(type: .record)
        case .user, .author, .role, .op: Known(type: .text, size: textSize)
        case .now: Known(type: .integer)
        }
    }
}

// MARK: - Fields and functions

extension RuleChecker {
    private mutating func select(
        _ operand: RuleNode, _ field: String, _ position: RulePosition
    ) throws(RuleError) -> Known {
        let known = try known(operand)
        switch known.type {
        case .record:
            guard let schema = fields[field] else {
                let nearest = Self.nearest(field, fields)
                throw RuleError(position, "the collection has no field \(field.excerpt())\(nearest)")
            }
            let size = schema.type == .json || schema.type == .map ? schema.sizeMax / 4 : schema.sizeMax
            return Known(type: RuleType(schema.type), size: size)
        case .map(let value): return Known(type: value, size: known.size)
        case .any: return Known(type: .any, size: known.size)
        case .null, .boolean, .integer, .double, .text, .list:
            throw RuleError(position, "\(operand.text.excerpt()) is \(known.type) and has no fields")
        }
    }

    private mutating func index(_ operand: RuleNode, _ index: RuleNode) throws(RuleError) -> Known {
        let known = try known(operand)
        switch known.type {
        case .list(let element):
            try require(index, "an index of a list is a whole number") { $0 == .integer }
            return Known(type: element, size: Self.textSize)
        case .map(let value):
            try require(index, "a key of a map is a text") { $0 == .text }
            return Known(type: value, size: known.size)
        case .any:
            try require(index, "an index is a whole number or a text") { $0 == .integer || $0 == .text }
            return Known(type: .any, size: known.size)
        case .record: throw RuleError(operand.position, "a field of a record is read with a dot: \(operand.text).name")
        case .null, .boolean, .integer, .double, .text:
            throw RuleError(operand.position, "[] applies to a list or map, and this is \(known.type)")
        }
    }

    private mutating func call(_ function: RuleFunction, _ arguments: [RuleNode]) throws(RuleError) -> Known {
        guard let first = arguments.first else { return Known(type: .any) }
        switch function {
        case .size:
            let known = try require(first, "size applies to texts, sets, lists and maps") {
                $0 == .text || $0.isContainer
            }
            spend(known.type == .text ? known.size / 64 : known.size)
            return Known(type: .integer)
        case .int, .double:
            try require(first, "\(function.rawValue) applies to numbers and texts") { $0.isNumber || $0 == .text }
            return Known(type: function == .int ? .integer : .double)
        case .string:
            let known = try require(first, "string applies to numbers, texts, true and false") {
                $0.isNumber || $0 == .text || $0 == .boolean
            }
            return Known(type: .text, size: max(known.size, 32))
        case .startsWith, .endsWith, .contains:
            let known = try require(first, "\(function.rawValue) applies to texts") { $0 == .text }
            for argument in arguments.dropFirst() {
                try require(argument, "\(function.rawValue) takes a text") { $0 == .text }
            }
            spend(known.size / 64)
            return Known(type: .boolean)
        }
    }

    // MARK: Operators

    private mutating func binary(
        _ known: RuleOperator, _ left: RuleNode, _ right: RuleNode, _ position: RulePosition
    ) throws(RuleError) -> Known {
        let failure = { (one: Known, other: Known, reason: String) in
            RuleError(position, "\(known.rawValue) between \(one.type) and \(other.type) \(reason)")
        }
        switch known {
        case .or, .and:
            for side in [left, right] {
                try require(side, "\(known.rawValue) applies to true or false") { $0 == .boolean }
            }
            return Known(type: .boolean)
        case .equal, .notEqual:
            let (one, other) = (try self.known(left), try self.known(right))
            if one.type == .record, other.type == .record {
                throw RuleError(position, "whole records are not compared: compare their fields")
            }
            guard one.type.canEqual(other.type) else {
                throw failure(one, other, "is always \(known == .equal ? "false" : "true"): compare values of one type")
            }
            try checkWord(left, [right])
            try checkWord(right, [left])
            spend(max(one.size, other.size) / (one.type == .text ? 64 : 1))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            let (one, other) = (try self.known(left), try self.known(right))
            guard one.type.canOrder(other.type) else { throw failure(one, other, "has no order") }
            spend(min(one.size, other.size) / 64)
        case .isIn:
            let (one, container) = (try self.known(left), try self.known(right))
            switch container.type {
            case .list(let element) where element.canEqual(one.type): break
            case .map where one.type == .text || one.type == .any: break
            case .any: break
            case .list, .map, .null, .boolean, .integer, .double, .text, .record:
                throw failure(one, container, "is never true: the right side is a set, list or map of such values")
            }
            if case .list(let elements) = right.kind { try checkWord(left, elements) }
            spend(Self.product(container.size, 1 + (one.type == .text ? one.size / 64 : 0)))
        case .add, .subtract, .multiply, .divide, .remainder:
            return try arithmetic(known, left, right, failure)
        }
        return Known(type: .boolean)
    }

    private mutating func arithmetic(
        _ known: RuleOperator, _ left: RuleNode, _ right: RuleNode, _ failure: (Known, Known, String) -> RuleError
    ) throws(RuleError) -> Known {
        let (one, other) = (try self.known(left), try self.known(right))
        let type = one.type == .any ? other.type : one.type
        if known == .add, type == .text || type.isList, one.type.canEqual(other.type) {
            let size = min(one.size + other.size, Int(Int32.max))
            spend(size / (type == .text ? 64 : 1))
            return Known(type: type, size: size)
        }
        guard one.type.isNumber, other.type.isNumber else { throw failure(one, other, "has no meaning") }
        guard one.type == other.type || one.type == .any || other.type == .any else {
            throw failure(one, other, "is not converted: write 2.0 instead of 2, double(…) or int(…)")
        }
        guard known != .remainder || type != .double else { throw failure(one, other, "needs whole numbers") }
        return Known(type: type)
    }

    /// Refuses a word that a variable with few values never has.
    private func checkWord(_ node: RuleNode, _ words: [RuleNode]) throws(RuleError) {
        guard case .variable(let variable) = node.kind, let values = variable.values else { return }
        for word in words {
            guard case .literal(.string(let text)) = word.kind, !values.contains(text) else { continue }
            throw RuleError(
                word.position,
                "\(variable.rawValue) is never '\(text.excerpt())'; it is \(values.joined(separator: ", "))")
        }
    }

    private func unknown(_ name: String) -> String {
        if fields[name] != nil { return "\(name) is a field of the record: write after.\(name) or before.\(name)" }
        if ["ref", "scope"].contains(name) { return "\(name) is not supported yet: a rule reads its own record only" }
        let known = RuleVariable.allCases.map(\.rawValue).joined(separator: ", ")
        return "\(name.excerpt()) is unknown: there are \(known)"
    }

    private static func nearest(_ name: String, _ fields: [String: FieldSchema]) -> String {
        let same = fields.keys.sorted().first { $0.lowercased() == name.lowercased() }
        return same.map { ": is \($0) meant?" } ?? ""
    }
}

extension RuleType {
    var isList: Bool { if case .list = self { true } else { false } }

    /// Whether macros go through it, and `size` counts it.
    var isContainer: Bool {
        switch self {
        case .list, .map, .any: true
        case .null, .boolean, .integer, .double, .text, .record: false
        }
    }
}
