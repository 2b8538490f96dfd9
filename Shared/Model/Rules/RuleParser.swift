/// Turns a rule's text into an expression, by the grammar of CEL's subset.
///
/// Its recursion, and that of everything that follows the expression, is bounded by ``RuleLimits``.
package struct RuleParser {
    private var lexer: RuleLexer
    private var token: RuleToken
    private var nesting = 0
    private var nodes = 0

    /// Reads a whole expression.
    ///
    /// - Throws: the first error with its position.
    package static func parse(_ text: String) throws(RuleError) -> RuleNode {
        var parser = try RuleParser(text)
        let node = try parser.expression()
        guard parser.token.kind == .end else {
            throw parser.failure(
                "the rule ends before \(parser.found): an operator is missing, or a bracket is too many")
        }
        return node
    }

    private init(_ text: String) throws(RuleError) {
        lexer = try RuleLexer(text)
        token = try lexer.next()
    }

    private mutating func expression() throws(RuleError) -> RuleNode {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= RuleLimits.nestingMax else {
            throw failure("more than \(RuleLimits.nestingMax) brackets inside each other: divide the rule")
        }
        let condition = try binary(1)
        let start = token.position
        guard try take("?") else { return condition }
        let yes = try binary(1)
        try expect(":", after: "the first value of ?:")
        let no = try expression()
        return try make(.conditional(condition, yes, no), start)
    }

    /// Reads operators of at least this precedence.
    private mutating func binary(_ minimum: Int) throws(RuleError) -> RuleNode {
        var left = try unary()
        while let known = infix, known.precedence >= minimum {
            let start = token.position
            try advance()
            left = try make(.binary(known, left, try binary(known.precedence + 1)), start)
        }
        return left
    }

    private var infix: RuleOperator? {
        switch token.kind {
        case .symbol(let symbol): RuleOperator(rawValue: symbol)
        case .name("in"): .isIn
        case .name, .integer, .double, .string, .end: nil
        }
    }

    /// Reads `!` or `-`, any number of one of them, and what they apply to. A minus before digits is part of the number.
    private mutating func unary() throws(RuleError) -> RuleNode {
        var starts: [RulePosition] = []
        let isNot = token.kind == .symbol("!")
        guard isNot || token.kind == .symbol("-") else { return try postfix(isNegative: false) }
        while token.kind == .symbol(isNot ? "!" : "-") {
            starts.append(token.position)
            guard starts.count <= RuleLimits.depthMax else { throw tooDeep(token.position) }
            try advance()
        }
        var isNumber = false
        switch token.kind {
        case .integer, .double: isNumber = !isNot
        case .string, .name, .symbol, .end: break
        }
        if isNumber { starts.removeLast() }
        var node = try postfix(isNegative: isNumber)
        for start in starts.reversed() { node = try make(isNot ? .not(node) : .negate(node), start) }
        return node
    }

    private mutating func postfix(isNegative: Bool) throws(RuleError) -> RuleNode {
        var node = try primary(isNegative: isNegative)
        while true {
            let start = token.position
            if try take("[") {
                let index = try expression()
                try expect("]", after: "the index")
                node = try make(.index(node, index), start)
            } else if try take(".") {
                node = try member(of: node, start)
            } else if token.kind == .symbol("{") {
                throw failure("messages are not supported: a map begins with {")
            } else {
                return node
            }
        }
    }

    /// Reads a field, a method or a macro after a dot.
    private mutating func member(of node: RuleNode, _ start: RulePosition) throws(RuleError) -> RuleNode {
        guard case .name(let name) = token.kind else { throw failure("a field's name must follow the dot") }
        let position = token.position
        try refuseKeyword(name)
        try advance()
        guard try take("(") else { return try make(.select(node, name), start) }
        if let macro = RuleMacro(rawValue: name) {
            let variable = try macroVariable(name)
            let predicate = try expression()
            try expect(")", after: "the arguments of \(name)")
            return try make(.macro(macro, node, variable, predicate), position)
        }
        let arguments = try arguments(of: name)
        guard let function = RuleFunction(rawValue: name), function.isMethod || function == .size else {
            throw RuleError(position, Self.unknown(name, isMethod: true))
        }
        try require(arguments.count == (function == .size ? 0 : 1), position) {
            function == .size ? "size() takes no argument here" : "\(name) takes one argument"
        }
        return try make(.call(function, [node] + arguments), position)
    }

    private mutating func macroVariable(_ macro: String) throws(RuleError) -> String {
        guard case .name(let variable) = token.kind else {
            throw failure("\(macro) begins with a name for the element, as in .\(macro)(x, x != '')")
        }
        try refuseReserved(variable)
        try require(RuleVariable(rawValue: variable) == nil, token.position) {
            "\(variable) is a variable of every rule: choose another name for the element"
        }
        try advance()
        try expect(",", after: "the name of the element")
        return variable
    }

    private mutating func primary(isNegative: Bool) throws(RuleError) -> RuleNode {
        let start = token.position
        switch token.kind {
        case .integer(let magnitude):
            guard let value = isNegative ? Self.negative(magnitude) : Int64(exactly: magnitude) else {
                throw failure("is not a whole number of 64 bits")
            }
            try advance()
            return try make(.literal(.integer(value)), start)
        case .double(let value):
            try advance()
            return try make(.literal(.double(isNegative ? -value : value)), start)
        case .string(let text):
            try advance()
            return try make(.literal(.string(text)), start)
        case .name(let name): return try named(name, start)
        case .symbol("("):
            try advance()
            let node = try expression()
            try expect(")", after: "the expression in brackets")
            return node
        case .symbol("["):
            try advance()
            return try make(.list(try elements(until: "]", of: "the list")), start)
        case .symbol("{"):
            try advance()
            return try make(.map(try pairs()), start)
        case .symbol, .end: throw failure("a value is missing before \(found)")
        }
    }

    private static func negative(_ magnitude: UInt64) -> Int64? {
        magnitude <= UInt64(Int64.max) + 1 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
}

extension RuleParser {
    /// Reads a literal's name, a variable or a function.
    private mutating func named(_ name: String, _ start: RulePosition) throws(RuleError) -> RuleNode {
        try advance()
        switch name {
        case "true", "false": return try make(.literal(.boolean(name == "true")), start)
        case "null": return try make(.literal(.null), start)
        case "in": throw RuleError(start, "a value is missing before in")
        default: break
        }
        guard try take("(") else {
            try refuseReserved(name, start)
            return try make(RuleVariable(rawValue: name).map { .variable($0) } ?? .name(name), start)
        }
        let arguments = try arguments(of: name)
        if name == "has" {
            guard arguments.count == 1, case .select(let operand, let field) = arguments[0].kind else {
                throw RuleError(start, "has takes one field, as in has(after.name)")
            }
            return try make(.has(operand, field), start)
        }
        guard let function = RuleFunction(rawValue: name), !function.isMethod else {
            throw RuleError(start, Self.unknown(name, isMethod: false))
        }
        try require(arguments.count == 1, start) { "\(name) takes one argument" }
        return try make(.call(function, arguments), start)
    }

    private mutating func arguments(of name: String) throws(RuleError) -> [RuleNode] {
        try elements(until: ")", of: "the arguments of \(name)", allowsTrailingComma: false)
    }

    private mutating func elements(
        until end: String, of what: String, allowsTrailingComma: Bool = true
    ) throws(RuleError) -> [RuleNode] {
        var elements: [RuleNode] = []
        if try take(end) { return elements }
        while true {
            elements.append(try expression())
            if try take(end) { return elements }
            try expect(",", after: "an element of \(what)")
            if allowsTrailingComma, try take(end) { return elements }
        }
    }

    private mutating func pairs() throws(RuleError) -> [RulePair] {
        var pairs: [RulePair] = []
        if try take("}") { return pairs }
        while true {
            let key = try expression()
            if case .literal(let value) = key.kind, value.kind != "string" {
                throw RuleError(key.position, "a key of a map is a text: write it in quotes")
            }
            try expect(":", after: "a key of the map")
            pairs.append(RulePair(key: key, value: try expression()))
            if try take("}") { return pairs }
            try expect(",", after: "a value of the map")
            if try take("}") { return pairs }
        }
    }

    private mutating func make(_ kind: RuleNode.Kind, _ position: RulePosition) throws(RuleError) -> RuleNode {
        nodes += 1
        let node = RuleNode(kind, at: position)
        guard nodes <= RuleLimits.nodesMax else {
            throw RuleError(position, "the rule has more than \(RuleLimits.nodesMax) parts: divide it into two")
        }
        guard node.depth <= RuleLimits.depthMax else { throw tooDeep(position) }
        return node
    }

    private func tooDeep(_ position: RulePosition) -> RuleError {
        RuleError(position, "the rule is nested more than \(RuleLimits.depthMax) deep: divide it into two")
    }

    private mutating func advance() throws(RuleError) { token = try lexer.next() }

    private mutating func take(_ symbol: String) throws(RuleError) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    private mutating func expect(_ symbol: String, after what: String) throws(RuleError) {
        guard try take(symbol) else { throw failure("\(symbol) must follow \(what), not \(found)") }
    }

    private func require(
        _ condition: Bool, _ position: RulePosition, _ reason: () -> String
    ) throws(RuleError) {
        if !condition { throw RuleError(position, reason()) }
    }

    private func failure(_ reason: String) -> RuleError { RuleError(token.position, reason) }

    private var found: String {
        switch token.kind {
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string: "a text"
        case .name(let name): name.excerpt()
        case .symbol(let symbol): symbol
        case .end: "the end"
        }
    }

    private func refuseKeyword(_ name: String) throws(RuleError) {
        try require(!["true", "false", "null", "in"].contains(name), token.position) {
            "\(name) is a word of the language and no field: write ['\(name)'] instead"
        }
    }

    private func refuseReserved(_ name: String, _ position: RulePosition? = nil) throws(RuleError) {
        try refuseKeyword(name)
        let reserved = [
            "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
            "namespace", "return", "var", "void", "while",
        ]
        try require(!reserved.contains(name), position ?? token.position) { "\(name) is a reserved word of CEL" }
    }

    /// The refusal of a function, with a remedy where one exists.
    private static func unknown(_ name: String, isMethod: Bool) -> String {
        let remedies = [
            "matches": "give the field a \"pattern\"", "map": "use all, exists or exists_one",
            "filter": "use all, exists or exists_one", "ref": "it is not supported yet",
            "timestamp": "times are milliseconds", "duration": "times are milliseconds",
            "uint": "whole numbers are int", "bytes": "fields hold text", "type": "types are known from the schema",
            "dyn": "types are known from the schema",
        ]
        if let remedy = remedies[name] { return "\(name) is not part of this language: \(remedy)" }
        let functions = RuleFunction.allCases.filter { $0.isMethod == isMethod || $0 == .size }.map(\.rawValue)
        let macros = isMethod ? RuleMacro.allCases.map(\.rawValue) : ["has"]
        return "\(name.excerpt()) is no function: there are \((functions + macros).joined(separator: ", "))"
    }
}
