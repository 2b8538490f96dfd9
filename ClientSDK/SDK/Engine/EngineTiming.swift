/// Times of the client engine, in milliseconds.
package struct EngineTiming: Hashable, Sendable {
    /// The first waits after a failure are at most so long; later ones an eighth of what was waited, up to `backoffMax`.
    package var backoffFirst: Int64 = 1_000
    package var backoffMax: Int64 = 30_000
    /// Between the beginnings of two attempts, when the system says that the network is back.
    package var hurryPause: Int64 = 500
    /// At most so long until a server is asked again that has ended this version of the app, and half of it at least: it may
    /// have been taken back. The app's next launch asks at once.
    package var updateRetry: Int64 = 4 * 3_600_000
    /// How often in a row a transaction may reach the server without an answer before it is withheld.
    package var attemptsMax = 5
    /// The longest until what met only silence is sent again on a connection that stays, and how far apart two withholdings have
    /// nothing to do with each other.
    package var releaseMax: Int64 = 3_600_000
    package var releaseApart: Int64 = 600_000
    /// Connections in a row that may end because the copy refused what came, before the client says that it is stuck.
    package var refusalsMax: Int64 = 3
    /// Refusals in a row that name fewer settled transactions than the server told of before. A push or two that were on
    /// their way may meet one each; more mean that the server has lost some, which the next welcome tells.
    package var gapsMax = 32
    /// So often within that time another connection takes the place of this client's: then another file has its client id.
    package var replacedMax = 3
    package var replacedWithin: Int64 = 600_000
    /// A connection that lived so long makes the next failure a first one again.
    package var healthy: Int64 = 10_000
    /// From the call for a token to the open socket.
    package var openingMax: Int64 = 60_000
    /// From the open socket to `welcome`.
    package var handshakeMax: Int64 = 10_000
    /// What is taken of the server's word on how often it shows itself. When nothing is heard for one and a half times
    /// that, it is asked for a sign of life.
    package var heartbeatMin: Int64 = 5_000
    package var heartbeatMax: Int64 = 60_000
    /// The same while it owes an answer.
    package var quietAwaitedMax: Int64 = 10_000
    /// A round on an open connection takes so young a sign of life for one of now, and asks for another otherwise.
    package var freshMax: Int64 = 2_000
    /// From the asking to the sign of life; doubles with each connection in a row that was given up for want of one, up
    /// to `silentEndsMax` times.
    package var probeMax: Int64 = 10_000
    package var silentEndsMax = 3
    /// The longest without a step forward while the server owes an answer, or a round goes on.
    package var answerMax: Int64 = 60_000
    /// Bytes a millisecond that the slowest network takes: so much longer may what was sent be on its way.
    package var bytesPerMillisecondMin: Int64 = 4
    /// A deadline that is looked at so much too late was slept through, and begins anew.
    package var lateMax: Int64 = 2_000
    /// The longest that a server can ask to wait.
    package var pauseMax: Int64 = 300_000
    /// A round does not wait for the end of a pause that is longer.
    package var roundPauseMax: Int64 = 5_000
    /// The longest that an applied frame stays unacknowledged: the disk is asked to confirm what was applied once in that
    /// time, and the radio wakes once to say so.
    package var ackDelay: Int64 = 2_000
    /// Frames and bytes after which it is acknowledged at once; fewer where the server's window is small.
    package var ackFrames = 128
    package var ackBytes = 96 * 1024
    /// Outcomes that may wait for it: far fewer than a server keeps for a client.
    package var ackOutcomes: Int64 = 500
    /// Before the token's end, when a fresh one is fetched; half of its life when that is shorter.
    package var tokenMargin: Int64 = 60_000
    /// Between two fetches, whatever the token says.
    package var tokenPauseMin: Int64 = 10_000
    /// Longer lives are not counted with.
    package var tokenLifeMax: Int64 = 1 << 40
    /// How often the database is looked into for what nobody told of, when the machine is awake anyway.
    package var lookEvery: Int64 = 30_000
    /// How often the database is looked into for whether it is time to compare the copy.
    package var compareEvery: Int64 = 600_000
    /// The same while the copy is not up to date before it is compared.
    package var compareRetry: Int64 = 1_000
    /// Pages asked for at the same time, as far as the server takes as many, and bytes that they are expected to have.
    package var pagesAtOnce = 256
    package var pageBytesAtOnce = 256 * 1_024
    /// Records whose history may be wanted without a connection; more are forgotten.
    package var historiesWantedMax = 64

    package init() {}
}
