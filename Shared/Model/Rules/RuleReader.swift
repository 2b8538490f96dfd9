/// Reads and checks the rules of one collection in a schema document.
enum RuleReader {
    static func rules(
        _ object: inout SchemaObject, _ fields: [FieldSchema], of collection: String
    ) throws(SchemaError) -> [WriteRule] {
        guard let value = object.take("rules") else { return [] }
        guard case .array(let elements) = value, elements.count <= RuleLimits.rulesMax else {
            throw object.error("\"rules\" is a list of at most \(RuleLimits.rulesMax) objects")
        }
        var rules: [WriteRule] = []
        var cost = 0
        for element in elements {
            let rule = try rule(element, fields, of: collection, &cost)
            guard !rules.contains(where: { $0.name.hasSameBytes(as: rule.name) }) else {
                throw object.error("two rules have the name \(rule.name)")
            }
            rules.append(rule)
        }
        guard cost <= RuleLimits.collectionStepsMax else {
            throw object.error(
                """
                the rules may need \(cost) steps for one record; the limit is \(RuleLimits.collectionStepsMax): give the \
                sets, maps and texts that they read a smaller "max"
                """)
        }
        return rules
    }

    private static func rule(
        _ value: FieldValue, _ fields: [FieldSchema], of collection: String, _ cost: inout Int
    ) throws(SchemaError) -> WriteRule {
        guard case .object(let body) = value else {
            throw SchemaError(collection: collection, "a rule is {\"name\": NAME, \"if\": CONDITION}")
        }
        var object = SchemaObject(body, collection: collection)
        guard let name = try object.string("name"), SchemaReader.isIdentifier(name) else {
            throw object.error("a rule has a \"name\": a letter followed by letters, digits and _, at most 48")
        }
        func error(_ reason: String) -> SchemaError { SchemaError(collection: collection, "rule \(name): \(reason)") }
        guard let condition = try object.string("if") else { throw error("\"if\" is missing: its condition") }
        let operations = try operations(&object, error)
        let message = try object.string("message")
        guard message.map({ !$0.isEmpty && $0.utf8.count <= RuleLimits.messageMax }) != false else {
            throw error("\"message\" has 1 to \(RuleLimits.messageMax) bytes")
        }
        let bindsServices = try object.boolean("services") ?? false
        try object.end()
        do throws(RuleError) {
            let expression = try RuleParser.parse(condition)
            var checker = RuleChecker(fields)
            try checker.check(expression)
            cost += checker.cost
            let rule = WriteRule(
                name: name, operations: operations, condition: condition, message: message,
                bindsServices: bindsServices, expression: expression)
            try RuleTrials(rule: rule, fields: fields, readings: readings(of: fields)).check()
            return rule
        } catch {
            throw SchemaError(collection: collection, "rule \(name): \(error)")
        }
    }

    private static func operations(
        _ object: inout SchemaObject, _ error: (String) -> SchemaError
    ) throws(SchemaError) -> Set<RuleOperation> {
        guard let names = try object.strings("on") else { return WriteRule.ordinary }
        var operations: Set<RuleOperation> = []
        for name in names {
            guard let operation = RuleOperation(rawValue: name) else {
                let known = RuleOperation.allCases.map(\.rawValue).joined(separator: ", ")
                throw error("\"on\" cannot be \(name.excerpt()); it must be among \(known)")
            }
            operations.insert(operation)
        }
        guard !operations.isEmpty else { throw error("\"on\" names no operation: leave it out, or name one") }
        // A restore is a creation by its caller.
        if operations.contains(.create) { operations.insert(.restore) }
        return operations
    }

    /// The values that rules read for absent fields: their defaults, and empty sets and maps.
    static func readings(of fields: [FieldSchema]) -> Fields {
        var readings = Fields()
        for field in fields {
            switch field.type {
            case .set: readings[field.name] = .array([])
            case .map: readings[field.name] = .object(Fields())
            case .string, .integer, .double, .boolean, .timestamp, .reference, .json, .blob:
                readings[field.name] = field.defaultValue
            }
        }
        return readings
    }
}
