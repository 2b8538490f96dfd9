import Testing

/// Names of types that an app already sees without our modules. A public type of the same name is ambiguous in
/// every file that imports both; a model of that name in the app would hide Swift's own type.
private let takenNames: KeyValuePairs<String, Set<String>> = [
    "Swift": [
        "Actor", "Array", "AnyHashable", "AsyncSequence", "AsyncStream", "Bool", "Character", "Clock", "Collection",
        "ContinuousClock", "Decodable", "Decoder", "Dictionary", "Double", "Duration", "Encodable", "Encoder", "Error",
        "Executor", "Float", "Hasher", "Identifiable", "Instant", "Int", "Iterator", "KeyPath", "Mirror", "Never",
        "Optional", "Range", "Result", "Sequence", "Set", "Slice", "String", "Substring", "Task", "TaskGroup",
        "TaskLocal",
        "Unicode", "Void",
    ],
    "Foundation": [
        "Bundle", "ByteCountFormatter", "Calendar", "Data", "Date", "DateComponents", "DateInterval", "Decimal",
        "Dimension", "FileHandle", "FileManager", "Formatter", "Host", "IndexPath", "IndexSet", "Locale", "Measurement",
        "Notification", "Operation", "Pipe", "Port", "Predicate", "Process", "Progress", "Scanner", "SortDescriptor",
        "SortOrder", "Stream", "Thread", "TimeInterval", "TimeZone", "Timer", "URL", "URLSession", "UUID", "Unit",
        "UserDefaults",
    ],
    "SwiftUI": [
        "Alert", "Alignment", "Anchor", "Angle", "Animation", "App", "AppStorage", "Axis", "Badge", "Binding", "Button",
        "Capsule", "Circle", "Color", "Commands", "Content", "ContentMode", "Context", "DatePicker", "Divider", "Edge",
        "EditMode", "Environment", "EnvironmentKey", "EnvironmentObject", "EnvironmentValues", "FetchRequest",
        "FocusState",
        "Font", "ForEach", "Form", "Gesture", "Grid", "GridItem", "Group", "HStack", "Image", "KeyEquivalent", "Label",
        "Layout", "Link", "List", "Menu", "Namespace", "NavigationPath", "NavigationStack", "Path", "Picker", "Preview",
        "ProgressView", "Query", "Rectangle", "RenameAction", "Scene", "ScrollView", "Section", "Settings", "Shape",
        "Slider", "Spacer", "State", "StateObject", "Stepper", "Subview", "Tab", "TabView", "Table", "TableColumn",
        "TableRow", "Text", "TextField", "Toggle", "ToolbarItem", "Transaction", "Transition", "VStack", "View",
        "Visibility",
        "Window", "WindowGroup", "ZStack",
    ],
    "Combine and Observation": [
        "AnyCancellable", "AnyPublisher", "Cancellable", "Deferred", "Empty", "Fail", "Future", "Just", "Observable",
        "ObservableObject", "ObservationRegistrar", "Published", "Publisher", "Publishers", "Record", "Scheduler",
        "Subject",
        "Subscriber", "Subscribers", "Subscription",
    ],
    "SwiftData": ["Attribute", "FetchDescriptor", "ModelContainer", "ModelContext", "Relationship", "Schema"],
]

/// The folders that apps import: the SDK with the nouns that it re-exports, the domains, the test kit.
private let importedFolders = [
    "Shared/Model/", "ClientSDK/SDK/", "ClientSDK/Chat/", "ClientSDK/RepairShop/", "ClientSDK/TestKit/",
    "ClientSDK/NIOTransport/", "ClientSDK/Extension/",
]

/// Folders of code that is copied into apps: a model there must not hide a type of Swift's either.
private let copiedFolders = ["Tests/GuideTests/", "ClientSDK/Examples/"]

let publicNames = Rule(name: "public names") { file in
    let isImported = file.isSwift && file.lies(in: importedFolders)
    guard isImported || file.isSwift && file.lies(in: copiedFolders) else { return [] }
    return DeclarationScan(file).declarations.compactMap { declaration in
        guard declaration.scope == .file, !isImported || declaration.access == "public",
            ["struct", "class", "enum", "actor", "protocol", "typealias"].contains(declaration.keyword),
            let module = takenNames.first(where: { $0.value.contains(declaration.name) })?.key
        else { return nil }
        return file.finding(
            declaration.line, "\(module) has a '\(declaration.name)' too; an app that imports both cannot use the name")
    }
}

@Suite struct PublicNamesTests {
    @Test func `no public type has a name that apps already use`() {
        expectNone(publicNames.findings(in: Repository.swiftFiles))
    }

    @Test func `a taken name is found where apps see it, and in no other folder`() {
        let text = """
            public struct Transaction {}
            package struct Task {}
            public struct Outer { public enum State {} }
            public final class Observable {}
            public protocol Transport {}
            """
        func lines(_ path: String) -> [Int] { publicNames.check(SourceFile(path: path, text: text)).map(\.line) }
        #expect(lines("ClientSDK/SDK/A.swift") == [1, 4])
        #expect(lines("Shared/Model/A.swift") == [1, 4])
        #expect(lines("Tests/GuideTests/A.swift") == [1, 2, 4])
        #expect(lines("Server/Store/A.swift").isEmpty)
    }
}
