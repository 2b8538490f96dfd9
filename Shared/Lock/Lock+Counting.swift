extension Lock where Value: Sendable {
    /// The current value; another thread may change it before the caller uses it.
    @inlinable
    package var current: Value { withLock { $0 } }

    /// Replaces the value.
    @inlinable
    package func set(_ new: Value) { withLock { $0 = new } }

    /// Replaces the value.
    ///
    /// - Returns: the previous value.
    @inlinable
    package func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}

extension Lock where Value: AdditiveArithmetic & Sendable {
    /// Adds to the value; traps beyond the type's bounds.
    ///
    /// - Returns: the sum.
    @inlinable
    @discardableResult
    package func add(_ amount: Value) -> Value {
        withLock { value in
            value += amount
            return value
        }
    }
}
