/// The effect of one transaction on one record, as rules judge it.
package struct RuleCase: Sendable {
    /// The fields before the transaction; `nil` if there was no such record.
    package var before: Fields?
    /// The fields after the transaction; `nil` if there is no such record.
    package var after: Fields?
    /// True if the record existed before and was deleted then.
    package var wasDeleted = false
    package var user: UserID
    /// The user's role in the record's scope; `nil` if it is not known here.
    package var role: String?
    package var author: UserID
    /// The server's time; `nil` if it is not known here.
    package var now: Milliseconds?
    package var isService = false

    package init(before: Fields?, after: Fields?, user: UserID, author: UserID) {
        self.before = before
        self.after = after
        self.user = user
        self.author = author
    }

    /// The operation; `nil` if the transaction leaves no trace.
    package var operation: RuleOperation? {
        switch (before, after) {
        case (nil, nil): nil
        case (nil, .some): wasDeleted ? .restore : .create
        case (.some, nil): .delete
        case (.some, .some): .change
        }
    }

    /// Returns the word for a role in rules.
    package static func word(_ role: Role?, isService: Bool) -> String {
        isService ? "server" : role?.rawValue ?? "none"
    }

    fileprivate func bindings(_ operation: RuleOperation, _ readings: Fields) -> RuleBindings {
        var bindings = RuleBindings()
        bindings.before = .value(before.map { .object($0) } ?? .null)
        bindings.after = .value(after.map { .object($0) } ?? .null)
        bindings.user = .value(.string(user.text))
        bindings.author = .value(.string(author.text))
        if let role { bindings.role = .value(.string(role)) }
        if let now { bindings.now = .value(.integer(now)) }
        bindings.op = .value(.string(operation.rawValue))
        bindings.readings = readings
        return bindings
    }
}

extension CollectionSchema {
    /// Judges what a transaction did to a record.
    ///
    /// A condition that fails with an error is broken. One that depends on a value that is not known here is left to
    /// the server.
    ///
    /// - Returns: the steps that the judgement took.
    /// - Throws: the refusal by the first broken rule.
    @discardableResult
    package func judge(_ record: RuleCase) throws(Rejection) -> Int {
        guard !rules.isEmpty, let operation = record.operation else { return 0 }
        let bindings = record.bindings(operation, readings)
        var steps = 0
        for rule in rules where rule.operations.contains(operation) && (!record.isService || rule.bindsServices) {
            var evaluator = RuleEvaluator(bindings)
            let outcome = evaluator.evaluate(rule.expression)
            steps += evaluator.steps
            switch outcome {
            case .value(.boolean(true)), .unknown: continue
            case .value: throw broken(rule, nil)
            case .fault(let fault): throw broken(rule, fault)
            }
        }
        return steps
    }

    private func broken(_ rule: WriteRule, _ fault: RuleFault?) -> Rejection {
        let reason = rule.message ?? "the record must keep: \(rule.condition)"
        let detail = fault.map { " (\($0.rawValue))" } ?? ""
        return Rejection(.rule, "\(name): \(rule.name): \(reason)\(detail)")
    }
}
