public import Foundation

open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) {}
    open var size: CGSize { .zero }
    open func preparingThumbnail(of size: CGSize) -> UIImage? { nil }
    open func jpegData(compressionQuality: CGFloat) -> Data? { nil }
}

@MainActor
open class UIApplication: NSObject {
    public struct LaunchOptionsKey: Hashable, Sendable {}
}

public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData
    case noData
    case failed
}

// Optional methods of Apple's protocol have a default here.
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult
}

extension UIApplicationDelegate {
    public func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult { .noData }
}
