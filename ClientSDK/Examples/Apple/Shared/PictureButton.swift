import Foundation
import PhotosUI
import SwiftUI
import UIKit

/// Lets the user choose a picture, and passes it on as a JPEG of a size that a server accepts.
struct PictureButton: View {
    let choose: @MainActor (PickedPicture) async throws -> Void
    @State private var selection: PhotosPickerItem?
    @EnvironmentObject private var problems: Problems

    var body: some View {
        PhotosPicker(selection: $selection, matching: .images) { Label("Picture", systemImage: "photo") }
            .onChange(of: selection) { item in
                guard let item else { return }
                problems.attempt {
                    selection = nil
                    guard let data = try await item.loadTransferable(type: Data.self),
                        let picture = PickedPicture(data)
                    else { return }
                    try await choose(picture)
                }
            }
    }
}

/// A picture for a record, with a small one that travels with the record.
struct PickedPicture: Sendable {
    let jpeg: Data
    let preview: Data?
    let width: Int
    let height: Int

    /// `nil` when the data is not a picture.
    init?(_ data: Data) {
        guard let image = UIImage(data: data) else { return nil }
        let small = image.preparingThumbnail(of: CGSize(width: 1_600, height: 1_600)) ?? image
        guard let jpeg = small.jpegData(compressionQuality: 0.8) else { return nil }
        self.jpeg = jpeg
        // An attachment has at most 8 KiB as JSON, in which bytes take a third more.
        preview = image.preparingThumbnail(of: CGSize(width: 48, height: 48))?.jpegData(compressionQuality: 0.5)
        (width, height) = (Int(small.size.width), Int(small.size.height))
    }
}
