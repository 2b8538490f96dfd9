import Foundation
import Testing
import Tidemark
import TidemarkChat

@testable import TidemarkAssembly

@Suite struct IdentityTests {
    @Test func `ids from names are the same everywhere, and different for different names`() {
        let (ann, bob) = (UserID("ann"), UserID("bob"))
        let direct = ChatID.directConversation(ann, bob)
        #expect(direct == ChatID.directConversation(bob, ann))
        // Fixed values: a version that made other ids would split every conversation.
        #expect(UniqueID(direct).description == "13bf88ee-4cdc-8c97-a342-cdd42b60e973")
        #expect(direct != ChatID.directConversation(ann, ann))
        #expect(
            ChatID.directConversation(UserID("a"), UserID("bc")) != ChatID.directConversation(UserID("ab"), UserID("c"))
        )
        #expect(ChatID.profile(of: ann) != ChatID.profile(of: bob))
        #expect(ChatID.receipts(of: ann, in: direct) != ChatID.receipts(of: bob, in: direct))
    }

    @Test func `the schema of a development server is the chat's`() throws {
        #expect(try ServerConfiguration.sampleSchema() == ChatSchema.schema())
    }
}
