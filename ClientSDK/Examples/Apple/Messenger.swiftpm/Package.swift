// swift-tools-version: 6.2
import AppleProductTypes
import PackageDescription

// An app for Xcode: open the folder. `Sources` leads to the folders beside it.
let package = Package(
    name: "Messenger",
    platforms: [.iOS("16.0")],
    products: [
        .iOSApplication(
            name: "Messenger", targets: ["Messenger"], bundleIdentifier: "com.example.messenger",
            displayVersion: "1.0", bundleVersion: "1", supportedDeviceFamilies: [.phone, .pad],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight],
            additionalInfoPlistContentFilePath: "Properties.plist")
    ],
    // The kit is for the previews.
    dependencies: [.package(name: "tidemark", path: "../../../..", traits: ["TestKit"])],
    targets: [
        .executableTarget(
            name: "Messenger",
            dependencies: [
                .product(name: "Tidemark", package: "tidemark"), .product(name: "TidemarkChat", package: "tidemark"),
                .product(name: "TidemarkTestKit", package: "tidemark"),
            ],
            path: "Sources",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
