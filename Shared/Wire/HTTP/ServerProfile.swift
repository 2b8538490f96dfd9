import TidemarkModel

/// The answer to `GET /v1/info`: the description of a server, for callers without a token.
package struct ServerProfile: Hashable, Sendable {
    /// The name of the server process.
    package var server: String
    package var versions: [Int64]
    package var schema: SchemaLabel
    package var limits: WireLimits

    package init(
        server: String, versions: [Int64] = WireVersion.supported, schema: SchemaLabel,
        limits: WireLimits
    ) {
        self.server = server
        self.versions = versions
        self.schema = schema
        self.limits = limits
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.string("{\"server\":", server)
        writer.array(",\"versions\":", versions) { $0.integer($1) }
        writer.literal(",\"schema\":")
        schema.write(to: &writer)
        writer.literal(",\"limits\":")
        limits.write(to: &writer)
        return writer.ended()
    }
}
