import Dispatch
import Foundation

open class BGTask: NSObject {
    open var expirationHandler: (() -> Void)?
    open func setTaskCompleted(success: Bool) {}
}

open class BGTaskRequest: NSObject {
    open var earliestBeginDate: Date?
}

open class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
}

open class BGTaskScheduler: NSObject {
    open class var shared: BGTaskScheduler { BGTaskScheduler() }

    open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { true }

    open func submit(_ taskRequest: BGTaskRequest) throws {}
    open func cancel(taskRequestWithIdentifier identifier: String) {}
}
