import Foundation
import Testing

/// The example apps that Xcode opens: everything that their packages name exists. `deploy/lib/app-packages.sh`
/// compiles the manifests.
@Suite struct AppPackagesTests {
    private static let folder = "ClientSDK/Examples/Apple"
    private static let apps = ["Messenger", "TaskBoard"]

    private static func text(_ path: String) throws -> String {
        try #require(Repository.files.first { $0.path == path }, "\(path)").lines.joined(separator: "\n")
    }

    @Test(arguments: apps)
    func `an app package has the folders of its app and the shared folder`(_ app: String) throws {
        for name in [app, "Shared"] {
            let link = Repository.root.appending(path: "\(Self.folder)/\(app).swiftpm/Sources/\(name)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "../../\(name)")
            #expect(Repository.exists("\(Self.folder)/\(name)"))
        }
    }

    @Test(arguments: apps)
    func `an app package links each module of the package that its files import, and no other`(_ app: String) throws {
        let manifest = try Self.text("\(Self.folder)/\(app).swiftpm/Package.swift")
        let products = Set(manifest.matches(of: /\.product\(name: "(\w+)", package: "tidemark"\)/).map { String($0.1) })
        let files = Repository.swiftFiles.filter { file in
            file.lies(in: ["\(Self.folder)/\(app)/", "\(Self.folder)/Shared/"])
        }
        let imported = files.flatMap(\.code).compactMap { line in
            line.trimmed.firstMatch(of: /^import (Tidemark\w*)$/).map { String($0.1) }
        }
        #expect(Set(imported) == products)
        let offered = try Self.text("Package.swift")
        for product in products { #expect(offered.contains(".library(name: \"\(product)\""), "\(product)") }
    }

    @Test func `the property lists hold the entries that the apps need from the system`() throws {
        struct Properties: Decodable {
            struct Transport: Decodable { var NSAllowsLocalNetworking: Bool }
            var BGTaskSchedulerPermittedIdentifiers: [String]?
            var UIBackgroundModes: [String]?
            var NSAppTransportSecurity: Transport
        }
        for app in Self.apps {
            let path = "\(Self.folder)/\(app).swiftpm/Properties.plist"
            let list = try PropertyListDecoder().decode(Properties.self, from: Data(try Self.text(path).utf8))
            #expect(list.NSAppTransportSecurity.NSAllowsLocalNetworking, "\(app)")
            guard app == "Messenger" else { continue }
            let source = try Self.text("\(Self.folder)/Messenger/Messenger.swift")
            let identifiers = try #require(list.BGTaskSchedulerPermittedIdentifiers)
            #expect(!identifiers.isEmpty && identifiers.allSatisfy { source.contains("BackgroundRefresh(\"\($0)\"") })
            #expect(list.UIBackgroundModes == ["fetch", "remote-notification"])
        }
    }
}
