/// The times and bounds of the client engine; times are in milliseconds.
package struct EngineTiming: Hashable, Sendable {
    /// The upper bound of the first waits after a failure. Later waits are an eighth of the time waited, up to
    /// `backoffMax`.
    package var backoffFirst: Int64 = 1_000
    package var backoffMax: Int64 = 30_000
    /// The shortest time between the beginnings of two attempts, when the system reports that the network is back.
    package var hurryPause: Int64 = 500
    /// The longest wait, and twice the shortest, before the client asks again a server that refuses this version of the
    /// app: the operator may have withdrawn the refusal. The app's next launch asks at once.
    package var updateRetry: Int64 = 4 * 3_600_000
    /// The number of times in a row that a transaction may reach the server without an answer before it is withheld.
    package var attemptsMax = 5
    /// `releaseMax`: the longest time until transactions withheld for silence are sent again on a connection that
    /// lasts. `releaseApart`: the time after which two withholdings are treated as unrelated.
    package var releaseMax: Int64 = 3_600_000
    package var releaseApart: Int64 = 600_000
    /// The number of connections in a row that may end because the copy refused what was received. Then the client
    /// reports that it is stuck.
    package var refusalsMax: Int64 = 3
    /// The number of refusals in a row that may name fewer settled transactions than the server reported before. A push
    /// or two under way may meet one each. More mean that the server has lost some, which the next welcome reports.
    package var gapsMax = 32
    /// If another connection replaces this client's so many times within `replacedWithin`, another file has its client
    /// id.
    package var replacedMax = 3
    package var replacedWithin: Int64 = 600_000
    /// The duration of a connection after which the next failure is treated as a first one.
    package var healthy: Int64 = 10_000
    /// The longest time from the request for a token to the open socket.
    package var openingMax: Int64 = 60_000
    /// The longest time from the open socket to `welcome`.
    package var handshakeMax: Int64 = 10_000
    /// The bounds for the heartbeat interval that the server announces. After one and a half intervals of silence the
    /// client asks for a sign of life.
    package var heartbeatMin: Int64 = 5_000
    package var heartbeatMax: Int64 = 60_000
    /// The longest silence while the server owes an answer; then the client asks for a sign of life.
    package var quietAwaitedMax: Int64 = 10_000
    /// A round on an open connection accepts a sign of life that is at most this old, and asks for another otherwise.
    package var freshMax: Int64 = 2_000
    /// The longest time from asking for a sign of life to receiving it. It doubles with each connection in a row that
    /// was given up for silence, up to `silentEndsMax` times.
    package var probeMax: Int64 = 10_000
    package var silentEndsMax = 3
    /// The longest time without progress while the server owes an answer, or while a round is under way.
    package var answerMax: Int64 = 60_000
    /// The bytes a millisecond that the slowest network carries: answers to large messages may be later by the time to
    /// send them.
    package var bytesPerMillisecondMin: Int64 = 4
    /// A deadline that is checked later than this was slept through, and begins anew.
    package var lateMax: Int64 = 2_000
    /// The longest pause that the server can ask for.
    package var pauseMax: Int64 = 300_000
    /// The longest pause whose end a round waits for.
    package var roundPauseMax: Int64 = 5_000
    /// The longest time that an applied frame stays unacknowledged. Within it the disk confirms once what was applied,
    /// and the radio wakes once to acknowledge it.
    package var ackDelay: Int64 = 2_000
    /// The frames and bytes after which the client acknowledges at once; fewer where the server's window is small.
    package var ackFrames = 128
    package var ackBytes = 96 * 1024
    /// The outcomes that may wait for an acknowledgement: far fewer than a server keeps for a client.
    package var ackOutcomes: Int64 = 500
    /// The time before the token's end at which a fresh one is fetched; half of its life when that is shorter.
    package var tokenMargin: Int64 = 60_000
    /// The shortest time between two fetches, whatever the token says.
    package var tokenPauseMin: Int64 = 10_000
    /// The upper bound of the time until that fetch, for tokens with a very long life.
    package var tokenLifeMax: Int64 = 1 << 40
    /// The interval at which the database is checked for changes that nothing reported, when the machine is awake
    /// anyway.
    package var lookEvery: Int64 = 30_000
    /// The interval at which the database is asked whether a comparison of the copy is due.
    package var compareEvery: Int64 = 600_000
    /// The same interval while the copy is not yet up to date enough to be compared.
    package var compareRetry: Int64 = 1_000
    /// The pages requested at the same time, if the server accepts as many, and the bytes that they are expected to
    /// have.
    package var pagesAtOnce = 256
    package var pageBytesAtOnce = 256 * 1_024
    /// The number of records whose history may be requested without a connection; more are ignored.
    package var historiesWantedMax = 64

    package init() {}
}
