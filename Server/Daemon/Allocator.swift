import CAllocator

/// The process allocates with jemalloc, which comes with the link of this module; why, says `ALLOCATOR.md`.
enum Allocator {
    /// Has threads of the allocator's own give unused memory back to the system, also while nothing is asked of it.
    static func start() {
        var isOn = true
        // Without them the same is done in passing, by whoever allocates.
        _ = mallctl("background_thread", nil, nil, &isOn, MemoryLayout<Bool>.size)
    }
}
