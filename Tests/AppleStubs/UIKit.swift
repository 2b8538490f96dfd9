public import Foundation

open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) {}
    open var size: CGSize { .zero }
    open func preparingThumbnail(of size: CGSize) -> UIImage? { nil }
    open func jpegData(compressionQuality: CGFloat) -> Data? { nil }
}
