import Tidemark

/// An attachment as a record has it. The field takes any JSON, from any version of any app; what is none of ours is no
/// attachment, and costs nobody the message.
struct AttachmentField: Codable, Hashable, Sendable {
    let attachment: MessageAttachment?

    init(_ attachment: MessageAttachment) { self.attachment = attachment }

    init(from decoder: any Decoder) throws {
        // Whatever does not decode is not ours.
        attachment = try? MessageAttachment(from: decoder)
    }

    func encode(to encoder: any Encoder) throws { try attachment.encode(to: encoder) }
}
