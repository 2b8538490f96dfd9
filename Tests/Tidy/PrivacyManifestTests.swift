import Foundation
import Testing

/// A category of calls for which the App Store asks for a reason:
/// `https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api`.
private struct ReasonedCategory: Sendable {
    let name: String
    /// The identifiers of the calls, as they are written in Swift.
    let calls: Set<String>
    /// The codes of Apple's reasons.
    let reasons: Set<String>
}

private let categories = [
    ReasonedCategory(
        name: "NSPrivacyAccessedAPICategoryFileTimestamp",
        calls: [
            "creationDate", "modificationDate", "fileModificationDate", "contentModificationDateKey", "creationDateKey",
            "contentModificationDate", "attributesOfItem", "stat", "fstat", "fstatat", "lstat", "getattrlist",
            "fgetattrlist", "getattrlistat", "getattrlistbulk",
        ], reasons: ["DDA9.1", "C617.1", "3B52.1", "0A2A.1"]),
    ReasonedCategory(
        name: "NSPrivacyAccessedAPICategorySystemBootTime", calls: ["systemUptime", "mach_absolute_time"],
        reasons: ["35F9.1", "8FFB.1", "3D61.1"]),
    ReasonedCategory(
        name: "NSPrivacyAccessedAPICategoryDiskSpace",
        calls: [
            "volumeAvailableCapacityKey", "volumeAvailableCapacityForImportantUsageKey",
            "volumeAvailableCapacityForOpportunisticUsageKey", "volumeTotalCapacityKey", "volumeAvailableCapacity",
            "volumeAvailableCapacityForImportantUsage", "volumeAvailableCapacityForOpportunisticUsage",
            "volumeTotalCapacity", "attributesOfFileSystem", "systemFreeSize", "systemSize", "statfs", "statvfs",
            "fstatfs", "fstatvfs", "getattrlist", "fgetattrlist", "getattrlistat",
        ], reasons: ["85F4.1", "E174.1", "7D9E.1", "B728.1"]),
    ReasonedCategory(
        name: "NSPrivacyAccessedAPICategoryActiveKeyboards", calls: ["activeInputModes"],
        reasons: ["3EC4.1", "54BD.1"]),
    ReasonedCategory(
        name: "NSPrivacyAccessedAPICategoryUserDefaults", calls: ["UserDefaults", "NSUserDefaults", "AppStorage"],
        reasons: ["CA92.1", "1C8F.1", "C56D.1", "AC6B.1"]),
]

/// A manifest, and the folders of the code that is linked with it.
private let manifests = [
    (path: "ClientSDK/SDK/PrivacyInfo.xcprivacy", folders: ["ClientSDK/SDK/", "Shared/"]),
    (path: "ClientSDK/Extension/PrivacyInfo.xcprivacy", folders: ["ClientSDK/Extension/", "Shared/Model/"]),
]

/// Folders that apps link as well and that have no manifest.
private let unmanifested = [
    "ClientSDK/Chat/", "ClientSDK/ChatSchema/", "ClientSDK/NIOTransport/", "ClientSDK/RepairShop/",
]

/// The keys of a manifest that are read here.
private struct PrivacyManifest: Decodable {
    struct Accessed: Decodable {
        var type: String
        var reasons: [String]

        enum CodingKeys: String, CodingKey {
            case type = "NSPrivacyAccessedAPIType"
            case reasons = "NSPrivacyAccessedAPITypeReasons"
        }
    }

    var isTracking: Bool
    var trackingDomains: [String]
    var collected: [[String: String]]
    var accessed: [Accessed]

    enum CodingKeys: String, CodingKey {
        case isTracking = "NSPrivacyTracking"
        case trackingDomains = "NSPrivacyTrackingDomains"
        case collected = "NSPrivacyCollectedDataTypes"
        case accessed = "NSPrivacyAccessedAPITypes"
    }
}

/// The categories of the calls in a file, with the line of the first call of each.
private func reasonedCalls(_ file: SourceFile) -> [String: Int] {
    var found: [String: Int] = [:]
    for (number, line) in file.code.enumerated() {
        let words = Set(line.split { !$0.isIdentifierPart }.map(String.init))
        for category in categories where found[category.name] == nil && !category.calls.isDisjoint(with: words) {
            found[category.name] = number
        }
    }
    return found
}

@Suite struct PrivacyManifestTests {
    @Test(arguments: manifests.map(\.path))
    func `a manifest declares each category that the code calls, with a reason of Apple's, and no other`(
        _ path: String
    ) throws {
        let folders = try #require(manifests.first { $0.path == path }).folders
        let text = try #require(Repository.files.first { $0.path == path }).lines.joined(separator: "\n")
        let manifest = try PropertyListDecoder().decode(PrivacyManifest.self, from: Data(text.utf8))
        let code = Repository.swiftFiles.filter { $0.lies(in: folders) }
        #expect(code.count > 10)
        let declared = manifest.accessed.map(\.type)
        #expect(Set(declared).count == declared.count)
        let called = Set(code.flatMap { reasonedCalls($0).keys })
        #expect(Set(declared) == called)
        for accessed in manifest.accessed {
            let known = categories.first { $0.name == accessed.type }?.reasons ?? []
            #expect(!accessed.reasons.isEmpty && known.isSuperset(of: accessed.reasons), "\(accessed.type)")
        }
        #expect(!manifest.isTracking && manifest.trackingDomains.isEmpty && manifest.collected.isEmpty)
    }

    @Test func `the linked folders without a manifest call nothing that asks for a reason`() {
        for file in Repository.swiftFiles where file.lies(in: unmanifested) {
            for (category, line) in reasonedCalls(file) {
                Issue.record("\(file.finding(line, "it asks for \(category), and the folder has no manifest"))")
            }
        }
    }

    @Test func `the package gives a manifest to each target that has one`() throws {
        let package = try #require(Repository.files.first { $0.path == "Package.swift" }).lines.joined(separator: "\n")
        let found = Repository.files.filter { $0.path.hasSuffix(".xcprivacy") }.map(\.path)
        #expect(Set(found) == Set(manifests.map(\.path)))
        #expect(package.contains("[.copy(\"PrivacyInfo.xcprivacy\")]"))
        for (target, folder) in [("Tidemark", "ClientSDK/SDK"), ("TidemarkExtension", "ClientSDK/Extension")] {
            #expect(package.contains("\"\(target)\"") && package.contains("path: \"\(folder)\""))
        }
    }

    @Test func `a call is found by its whole name, and not in a comment or a text`() {
        let file = SourceFile(
            path: "ClientSDK/SDK/A.swift",
            text: """
                // stat and UserDefaults
                let words = "systemUptime"
                let state = status(of: statistics)
                guard lstat(path, &found) == 0 else { return ProcessInfo.processInfo.systemUptime }
                let free = try url.resourceValues(forKeys: [.volumeAvailableCapacityKey])
                """)
        #expect(
            reasonedCalls(file) == [
                "NSPrivacyAccessedAPICategoryFileTimestamp": 3, "NSPrivacyAccessedAPICategorySystemBootTime": 3,
                "NSPrivacyAccessedAPICategoryDiskSpace": 4,
            ])
    }
}
