import Foundation

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

@resultBuilder
public struct ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        TupleView()
    }
}

public struct TupleView<Value>: View {
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

public struct List<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

public struct ForEach<Data: RandomAccessCollection, Content: View>: View where Data.Element: Identifiable {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

public struct Button: View {
    public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

public struct Text: View {
    public init<S: StringProtocol>(_ content: S) {}
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

public struct Image: View {
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

public struct Label<Title: View, Icon: View>: View {
    public typealias Body = Never
    public var body: Never { preconditionFailure() }
}

extension Label where Title == Text, Icon == Image {
    nonisolated public init<S: StringProtocol>(_ title: S, systemImage name: String) {}
}

extension View {
    nonisolated public func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }

    nonisolated public func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }
}

public protocol DynamicProperty {
    mutating func update()
}

extension DynamicProperty {
    public mutating func update() {}
}

@propertyWrapper
public struct State<Value>: DynamicProperty {
    public init(wrappedValue value: Value) { wrappedValue = value }
    public init(initialValue value: Value) { wrappedValue = value }

    public var wrappedValue: Value {
        get { preconditionFailure() }
        nonmutating set {}
    }
}

extension State where Value: ExpressibleByNilLiteral {
    public init() {}
}

extension State: Sendable where Value: Sendable {}

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

public struct EnvironmentValues {
    public init() {}

    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { K.defaultValue }
        set {}
    }
}

@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}

    public var wrappedValue: Value { preconditionFailure() }
}
