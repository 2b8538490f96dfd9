import Foundation
import Tidemark
import UIKit

/// Receives system events that a scene does not get: launches and push notifications.
@MainActor
final class MessengerDelegate: NSObject, UIApplicationDelegate {
    private(set) lazy var messenger = Messenger()

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        messenger.launch()
        return true
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        await messenger.syncInBackground() ? .newData : .noData
    }
}
