public import SwiftUI

public struct PHPickerFilter: Equatable, Sendable {
    public static let images = PHPickerFilter()
}

public struct PhotosPickerItem: Equatable, Hashable, Sendable {
    public func loadTransferable<T: Transferable>(type: T.Type) async throws -> T? { nil }
}

@MainActor @preconcurrency
public struct PhotosPicker<Label: View>: PrimitiveView {
    nonisolated public init(
        selection: Binding<PhotosPickerItem?>, matching filter: PHPickerFilter? = nil,
        @ViewBuilder label: () -> Label
    ) {}
}
