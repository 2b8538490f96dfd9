/// What must hold whatever happens; the numbers are those of the protocol's design.
enum Invariant: String {
    case tiling = "I-01 batches tile the order"
    case stability = "I-02 what was committed never changes under its number"
    case record = "I-03 a record keeps scope and birth, its number rises"
    case exactlyOnce = "I-04 a transaction takes effect once"
    case clientOrder = "I-05 a client's transactions are settled in order, without gaps"
    case terminality = "I-06 every transaction comes to an end, a refused one changes nothing"
    case writeAccess = "I-07 only who may write has an effect"
    case time = "I-08 server time never decreases along the order"
    case merge = "I-09 the server's state is the fold of what it accepted"
    case contiguity = "I-10 each frame continues the last one of its connection"
    case noLeak = "I-11 rows go to members only"
    case completeness = "I-12 a consistent copy is the server's state at its cursor"
    case guarding = "I-13 a copy's record never goes back"
    case idempotence = "I-14 repeated frames and late pages change nothing"
    case liveAtomicity = "I-15 a live frame holds whole batches"
    case causality = "I-16 what was written after seeing a number stands after it"
    case noResurrection = "I-17 what was deleted stays deleted"
    case horizon = "I-18 nobody goes on from below the horizon"
    case conservation = "I-19 no local write vanishes"
    case rebase = "I-20 visible is base plus pending writes"
    case noFlicker = "I-21 a single writer never sees its own record go back"
    case purge = "I-22 nothing of a lost scope stays"
    case lineage = "I-24 nobody goes on from a place of another order"
    case fork = "I-23 two files under one client id lose nothing and double nothing"
    case digest = "I-25 a comparison finds what was damaged, and nothing else"
    case bounds = "I-26 queues stay within their limits"
    case boundedWork = "I-28 a frame holds each record once, and only what changed in what it spans"
    case convergence = "I-29 once faults stop, all copies become the server's state"
    case determinism = "I-30 the same seed takes the same course"
    case liveness = "I-32 what is pending is tried within the longest wait"
    case earshot = "I-33 what is said in a scope is heard by its members only, and by none who has left it"
    case epochs = "I-34 epochs only rise, and begin where something went back"
    case reoffering = "I-35 what a device was told of, and still has, has its effect once in the end, or is refused"
    case erasure = "R-66 of an erased scope nothing is left"
    case ownBatches = "R-81 no session is made to catch up on what its own node is about to tell"
    case signOut = "R-115 who is signed out is sent nothing more, and nobody else is signed out"
    case sight = "what is sent again says what its writer saw"
    case settled = "I-31 what was committed here is shown until the server says otherwise"
}

/// The first broken invariant of a run.
struct Violation: Error {
    let invariant: Invariant
    let message: String
}
