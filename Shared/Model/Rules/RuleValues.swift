/// The operators and functions on known values.
enum RuleValues {
    static func applying(_ known: RuleOperator, _ left: FieldValue, _ right: FieldValue) -> RuleOutcome {
        switch known {
        case .equal: .value(.boolean(areEqual(left, right)))
        case .notEqual: .value(.boolean(!areEqual(left, right)))
        case .less: compared(left, right) { $0 < 0 }
        case .lessOrEqual: compared(left, right) { $0 <= 0 }
        case .greater: compared(left, right) { $0 > 0 }
        case .greaterOrEqual: compared(left, right) { $0 >= 0 }
        case .isIn: isIn(left, right)
        case .add: sum(left, right)
        case .subtract: arithmetic(left, right, { $0.subtractingReportingOverflow($1) }, -)
        case .multiply: arithmetic(left, right, { $0.multipliedReportingOverflow(by: $1) }, *)
        case .divide: divided(left, right)
        case .remainder: remainder(left, right)
        case .and, .or: .fault(.mismatch)
        }
    }

    // MARK: Comparing

    /// Whether two values are the same; numbers of both types by their value, and values of other types never.
    static func areEqual(_ left: FieldValue, _ right: FieldValue) -> Bool {
        switch (left, right) {
        case (.integer, .double), (.double, .integer): return order(left, right) == 0
        case (.array(let one), .array(let other)):
            return one.count == other.count && zip(one, other).allSatisfy { areEqual($0, $1) }
        case (.object(let one), .object(let other)):
            return one.entries.count == other.entries.count
                && zip(one.entries, other.entries).allSatisfy {
                    $0.name.hasSameBytes(as: $1.name) && areEqual($0.value, $1.value)
                }
        case (.null, _), (.boolean, _), (.integer, _), (.double, _), (.string, _), (.array, _), (.object, _):
            return left == right
        }
    }

    private static func compared(_ left: FieldValue, _ right: FieldValue, _ test: (Int) -> Bool) -> RuleOutcome {
        switch (left, right) {
        case (.boolean, .boolean), (.string, .string), (.integer, .integer), (.double, .double), (.integer, .double),
            (.double, .integer):
            // What is not a number is neither less nor more.
            .value(.boolean(order(left, right).map(test) ?? false))
        default: .fault(.mismatch)
        }
    }

    /// Returns a number below zero if the left value comes first; `nil` if there is no order.
    private static func order(_ left: FieldValue, _ right: FieldValue) -> Int? {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): (left ? 1 : 0) - (right ? 1 : 0)
        case (.string(let left), .string(let right)): left.byteOrder(right)
        case (.integer(let left), .integer(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.double(let left), .double(let right)):
            left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
        case (.integer(let left), .double(let right)): order(left, right)
        case (.double(let left), .integer(let right)): order(right, left).map { -$0 }
        default: nil
        }
    }

    /// Compares exactly, without rounding the whole number.
    private static func order(_ left: Int64, _ right: Double) -> Int? {
        if right.isNaN { return nil }
        if right >= 9_223_372_036_854_775_808 { return -1 }
        if right < -9_223_372_036_854_775_808 { return 1 }
        let truncated = Int64(right)
        if left != truncated { return left < truncated ? -1 : 1 }
        let whole = Double(truncated)
        return whole < right ? -1 : whole > right ? 1 : 0
    }

    private static func isIn(_ value: FieldValue, _ container: FieldValue) -> RuleOutcome {
        switch (value, container) {
        case (_, .array(let elements)): .value(.boolean(elements.contains { areEqual($0, value) }))
        case (.string(let key), .object(let fields)): .value(.boolean(fields[key] != nil))
        case (_, .object): .no
        default: .fault(.mismatch)
        }
    }

    // MARK: Arithmetic

    static func negated(_ value: FieldValue) -> RuleOutcome {
        switch value {
        case .integer(let number): number == .min ? .fault(.overflow) : .value(.integer(-number))
        case .double(let number): .value(.double(-number))
        case .null, .boolean, .string, .array, .object: .fault(.mismatch)
        }
    }

    private static func sum(_ left: FieldValue, _ right: FieldValue) -> RuleOutcome {
        switch (left, right) {
        case (.string(let one), .string(let other)): .value(.string(one + other))
        case (.array(let one), .array(let other)): .value(.array(one + other))
        default: arithmetic(left, right, { $0.addingReportingOverflow($1) }, +)
        }
    }

    private static func arithmetic(
        _ left: FieldValue, _ right: FieldValue,
        _ whole: (Int64, Int64) -> (partialValue: Int64, overflow: Bool), _ floating: (Double, Double) -> Double
    ) -> RuleOutcome {
        switch (left, right) {
        case (.integer(let one), .integer(let other)): checked(whole(one, other))
        case (.double(let one), .double(let other)): .value(.double(floating(one, other)))
        default: .fault(.mismatch)
        }
    }

    private static func divided(_ left: FieldValue, _ right: FieldValue) -> RuleOutcome {
        if case .integer = left, case .integer(0) = right { return .fault(.divisionByZero) }
        return arithmetic(left, right, { $0.dividedReportingOverflow(by: $1) }, /)
    }

    private static func remainder(_ left: FieldValue, _ right: FieldValue) -> RuleOutcome {
        guard case .integer(let one) = left, case .integer(let other) = right else { return .fault(.mismatch) }
        return other == 0 ? .fault(.divisionByZero) : checked(one.remainderReportingOverflow(dividingBy: other))
    }

    private static func checked(_ result: (partialValue: Int64, overflow: Bool)) -> RuleOutcome {
        result.overflow ? .fault(.overflow) : .value(.integer(result.partialValue))
    }
}

// MARK: - Functions

extension RuleValues {
    static func applying(_ function: RuleFunction, _ value: FieldValue) -> RuleOutcome {
        switch function {
        case .size: size(of: value)
        case .int: whole(value)
        case .double: floating(value)
        case .string: text(value)
        case .startsWith, .endsWith, .contains: .fault(.mismatch)
        }
    }

    static func applying(_ function: RuleFunction, _ value: FieldValue, _ argument: FieldValue) -> RuleOutcome {
        guard case .string(let text) = value, case .string(let part) = argument else { return .fault(.mismatch) }
        switch function {
        case .startsWith: return .value(.boolean(text.utf8.starts(with: part.utf8)))
        case .endsWith: return .value(.boolean(text.utf8.reversed().starts(with: part.utf8.reversed())))
        case .contains: return .value(.boolean(TextSearch.finds(Array(part.utf8), in: Array(text.utf8))))
        case .size, .int, .double, .string: return .fault(.mismatch)
        }
    }

    static func element(of container: FieldValue, at index: FieldValue) -> RuleOutcome {
        switch (container, index) {
        case (.array(let elements), .integer(let index)):
            elements.indices.contains(Int(clamping: index))
                ? .value(elements[Int(clamping: index)])
                : .fault(.outOfRange)
        case (.object(let fields), .string(let key)): fields[key].map { .value($0) } ?? .fault(.noSuchKey)
        default: .fault(.mismatch)
        }
    }

    /// Characters of a text are counted as Unicode scalars.
    private static func size(of value: FieldValue) -> RuleOutcome {
        switch value {
        case .string(let text): .value(.integer(Int64(text.unicodeScalars.count)))
        case .array(let elements): .value(.integer(Int64(elements.count)))
        case .object(let fields): .value(.integer(Int64(fields.entries.count)))
        case .null, .boolean, .integer, .double: .fault(.mismatch)
        }
    }

    private static func whole(_ value: FieldValue) -> RuleOutcome {
        switch value {
        case .integer: return .value(value)
        case .double(let number):
            // Both ends are excluded, since they may be rounded numbers outside of the range.
            guard number > -9_223_372_036_854_775_808, number < 9_223_372_036_854_775_808 else {
                return .fault(.overflow)
            }
            return .value(.integer(Int64(number)))
        case .string(let text): return Int64(text).map { .value(.integer($0)) } ?? .fault(.malformed)
        case .null, .boolean, .array, .object: return .fault(.mismatch)
        }
    }

    private static func floating(_ value: FieldValue) -> RuleOutcome {
        switch value {
        case .integer(let number): return .value(.double(Double(number)))
        case .double: return .value(value)
        case .string(let text):
            guard text.utf8.count <= 64, let number = Double(text), number.isFinite else { return .fault(.malformed) }
            return .value(.double(number))
        case .null, .boolean, .array, .object: return .fault(.mismatch)
        }
    }

    private static func text(_ value: FieldValue) -> RuleOutcome {
        switch value {
        case .boolean(let flag): .value(.string(flag ? "true" : "false"))
        case .integer(let number): .value(.string(String(number)))
        case .double(let number): .value(.string(number.description))
        case .string: .value(value)
        case .null, .array, .object: .fault(.mismatch)
        }
    }

    // MARK: Work

    /// Returns the steps that an operator adds for large values.
    static func weight(of known: RuleOperator, _ left: FieldValue, _ right: FieldValue) -> Int {
        switch known {
        case .add: weight(of: left) + weight(of: right)
        case .isIn: size(ofList: right) * (1 + weight(of: left))
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: min(weight(of: left), weight(of: right))
        case .subtract, .multiply, .divide, .remainder, .and, .or: 0
        }
    }

    /// Returns the steps that a function adds for a large value: one for 64 bytes of text.
    static func weight(of value: FieldValue) -> Int {
        switch value {
        case .string(let text): text.utf8.count / 64
        case .array(let elements): elements.reduce(0) { $0 + 1 + weight(of: $1) }
        case .object(let fields): fields.entries.reduce(0) { $0 + 1 + weight(of: $1.value) }
        case .null, .boolean, .integer, .double: 0
        }
    }

    private static func size(ofList value: FieldValue) -> Int {
        if case .array(let elements) = value { elements.count } else { 0 }
    }
}

extension RuleOperator {
    /// Whether the operator fails with null, whatever the other side is.
    var refusesNull: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .add, .subtract, .multiply, .divide, .remainder: true
        case .or, .and, .equal, .notEqual, .isIn: false
        }
    }
}

/// Finds one text in another in linear time, whatever the texts (Knuth, Morris and Pratt).
enum TextSearch {
    static func finds(_ part: [UInt8], in text: [UInt8]) -> Bool {
        guard !part.isEmpty else { return true }
        guard part.count <= text.count else { return false }
        var borders = [0]
        var length = 0
        for index in part.indices.dropFirst() {
            while length > 0, part[index] != part[length] { length = borders[length - 1] }
            if part[index] == part[length] { length += 1 }
            borders.append(length)
        }
        length = 0
        for byte in text {
            while length > 0, byte != part[length] { length = borders[length - 1] }
            if byte == part[length] { length += 1 }
            if length == part.count { return true }
        }
        return false
    }
}
