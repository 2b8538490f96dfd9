// swift-tools-version: 6.2
import AppleProductTypes
import PackageDescription

// An app for Xcode: open the folder. `Sources` leads to the folders beside it.
let package = Package(
    name: "TaskBoard",
    platforms: [.iOS("16.0")],
    products: [
        .iOSApplication(
            name: "TaskBoard", targets: ["TaskBoard"], bundleIdentifier: "com.example.taskboard",
            displayVersion: "1.0", bundleVersion: "1", supportedDeviceFamilies: [.phone, .pad],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight],
            additionalInfoPlistContentFilePath: "Properties.plist")
    ],
    // The kit is for the previews.
    dependencies: [.package(name: "tidemark", path: "../../../..", traits: ["TestKit"])],
    targets: [
        .executableTarget(
            name: "TaskBoard",
            dependencies: [
                .product(name: "Tidemark", package: "tidemark"),
                .product(name: "TidemarkTestKit", package: "tidemark"),
            ],
            path: "Sources", exclude: ["TaskBoard/Model/board.version1.schema.json"],
            resources: [.copy("TaskBoard/Model/board.schema.json")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
