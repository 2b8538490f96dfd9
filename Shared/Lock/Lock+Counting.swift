extension Lock where Value: Sendable {
    /// The value as it is now; another thread may have changed it before the caller looks.
    @inlinable
    package var current: Value { withLock { $0 } }

    /// Puts another value in its place.
    @inlinable
    package func set(_ new: Value) { withLock { $0 = new } }

    /// Puts another value in its place.
    ///
    /// - Returns: the value before.
    @inlinable
    package func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}

extension Lock where Value: AdditiveArithmetic & Sendable {
    /// Adds; traps beyond the type's bounds.
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
