/// Evaluates a rule with most values unknown, to find one that decides nothing or always fails.
struct RuleTrials {
    let rule: WriteRule
    let fields: [FieldSchema]
    /// See ``RuleBindings/readings``.
    let readings: Fields

    func check() throws(RuleError) {
        let operations = RuleOperation.allCases.filter(rule.operations.contains)
        var outcomes: Set<RuleOutcome> = []
        for operation in operations {
            let outcome = outcome(of: operation, absent: nil)
            if case .fault(let fault) = outcome { throw failure(fault, operation) }
            outcomes.insert(outcome)
        }
        if outcomes == [.no] { throw error("is never true, so that it refuses every write") }
        if outcomes == [.yes] { throw error("is always true, so that it refuses nothing") }
        for (name, position) in rule.expression.fieldsRead.sorted(by: { $0.key < $1.key }) {
            guard let field = fields.first(where: { $0.name == name }), !field.isRequired || field.merge == .server
            else { continue }
            for operation in operations {
                guard case .fault = outcome(of: operation, absent: name) else { continue }
                throw RuleError(
                    position,
                    """
                    \(name) may be absent, and the rule then fails at a \(operation.rawValue): make the field required, \
                    give it a \"default\", or write !has(after.\(name)) || …
                    """)
            }
        }
    }

    private func outcome(of operation: RuleOperation, absent: String?) -> RuleOutcome {
        var bindings = RuleBindings()
        bindings.op = .value(.string(operation.rawValue))
        if operation == .create || operation == .restore { bindings.before = .value(.null) }
        if operation == .delete { bindings.after = .value(.null) }
        bindings.readings = readings
        bindings.assumedAbsent = absent
        var evaluator = RuleEvaluator(bindings)
        return evaluator.evaluate(rule.expression)
    }

    private func failure(_ fault: RuleFault, _ operation: RuleOperation) -> RuleError {
        let advice =
            switch operation {
            case .create, .restore: "before is null then: name other operations in \"on\", or test op first"
            case .delete: "after is null then: name other operations in \"on\", or test op first"
            case .change: fault.rawValue
            }
        return error("always fails at a \(operation.rawValue): \(advice)")
    }

    private func error(_ reason: String) -> RuleError { RuleError(rule.expression.position, reason) }
}
