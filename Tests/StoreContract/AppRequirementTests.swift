import Testing
import TidemarkStore

@Suite struct AppRequirementTests {
    @Test func `versions are compared number by number, and missing numbers are 0`() throws {
        let rising = ["0", "0.9", "1", "1.0.1", "1.2", "1.9.9", "1.10", "2", "2.4.202511250301", "10.0"]
        let versions = try rising.map { try #require(AppVersion($0)) }
        for (index, version) in versions.enumerated() {
            for later in versions[(index + 1)...] { #expect(version < later && later > version && version != later) }
        }
        #expect(AppVersion("2.4") == AppVersion("2.4.0.0"))
        #expect(AppVersion("2.4-beta.9") == AppVersion("2.4"))
        #expect(AppVersion("1.2.3.4.5") == AppVersion("1.2.3.4"))
        #expect(try #require(AppVersion("99999999999999999999999")) > #require(AppVersion("99999999999")))
        for text in ["", "v2", ".5", " 1", "beta"] { #expect(AppVersion(text) == nil, "\(text)") }
    }

    @Test func `an app that is older than the minimal version is told it`() throws {
        let requirement = try #require(AppRequirement("2.4"))
        for app in ["shop 2.3.9", "shop 1", "2.3", "shop/2.0 (iOS 18)", "shop", "", "shop beta"] {
            #expect(requirement.minimum(for: app)?.description == "2.4", "\(app)")
        }
        #expect(requirement.minimum(for: nil)?.description == "2.4")
        for app in ["shop 2.4", "shop 2.4.0", "desk 2.10", "shop/3 (iOS 18)", "3.0-beta"] {
            #expect(requirement.minimum(for: app) == nil, "\(app)")
        }
    }

    @Test func `a version for a name concerns only apps of that name`() throws {
        let requirement = try #require(AppRequirement("shop 3.1, my desk 2.0"))
        #expect(requirement.minimum(for: "shop 3.0")?.description == "3.1")
        #expect(requirement.minimum(for: "my desk 1.9")?.description == "2.0")
        #expect(requirement.minimum(for: "shop")?.description == "3.1")
        for app in ["shop 3.1", "Shop 1", "desk 1", "other 0.1", "my desk 2", nil] {
            #expect(requirement.minimum(for: app) == nil, "\(app ?? "none")")
        }
        let both = try #require(AppRequirement("2, shop 3"))
        #expect(both.minimum(for: "shop 1")?.description == "3")
        #expect(both.minimum(for: "desk 1")?.description == "2")
    }

    @Test func `a stored list is parsed again, and an invalid list of versions is refused`() throws {
        for text in ["", "2.4", "shop 3.1, my desk 2.0", "2, shop 3"] {
            let requirement = try #require(AppRequirement(text))
            #expect(requirement.description == text && AppRequirement(requirement.description) == requirement)
        }
        #expect(AppRequirement.none.isEmpty && AppRequirement.none.minimum(for: nil) == nil)
        for text in ["shop", "2.4 shop", "2.4.", "2.4-beta", "1.2.3.4.5", "shop\n2", "shop 2,desk"] {
            #expect(AppRequirement(text) == nil, "\(text)")
        }
        #expect(AppRequirement((0..<33).map { "app\($0)x 1" }.joined(separator: ",")) == nil)
    }
}
