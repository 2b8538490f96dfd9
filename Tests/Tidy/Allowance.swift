/// An exception to a rule: one file, one rule, one reason. Nothing else is exempt.
struct Allowance: Sendable {
    let rule: String
    let path: String
    let reason: String

    func covers(_ file: SourceFile, of rule: Rule) -> Bool {
        self.rule == rule.name && path == file.path
    }

    /// Every exception in the repository. A test fails for an entry that nothing needs any more.
    static let all: [Allowance] = [
        Allowance(
            rule: "public names", path: "Shared/Model/Schema/Schema.swift",
            reason:
                "the word that every document uses; beside SwiftData, which does the same task, it is Tidemark.Schema"),
        Allowance(
            rule: "names of files", path: "ClientSDK/SDK/PrivacyInfo.xcprivacy",
            reason: "the name that the App Store looks for"),
        Allowance(
            rule: "names of files", path: "ClientSDK/Extension/PrivacyInfo.xcprivacy",
            reason: "the name that the App Store looks for"),
        Allowance(
            rule: "unstructured tasks", path: "ClientSDK/SDK/Engine/StoreEnvironment+Executors.swift",
            reason: "connect() returns at once and the connection outlives its caller; disconnect() ends and awaits it"),
        Allowance(
            rule: "unstructured tasks", path: "ClientSDK/SDK/SwiftUI/LiveRecords.swift",
            reason: "a view asks while it is drawn and cannot await; the object that it asks cancels it when it goes"),
        Allowance(
            rule: "unstructured tasks", path: "ClientSDK/SDK/Transport/SocketConnection.swift",
            reason: "a connection is opened by one task and used by others; its alarm ends with it"),
        Allowance(
            rule: "unstructured tasks", path: "ClientSDK/Examples/Apple/Shared/Problems.swift",
            reason: "a button cannot await; what it began goes on when the view is gone, and says what went wrong"),
        Allowance(
            rule: "unstructured tasks", path: "ClientSDK/Examples/Apple/Messenger/Messenger.swift",
            reason:
                "a launch in the background has no view whose task could carry it; the account lives as long as the app"
        ),
        Allowance(
            rule: "unstructured tasks", path: "ClientSDK/Examples/Apple/Guides/SwiftUIGuide.swift",
            reason: "a button cannot await; a local write ends in a moment"),
    ]
}
