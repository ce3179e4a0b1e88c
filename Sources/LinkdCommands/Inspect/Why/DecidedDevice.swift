internal import ByteStorage
internal import LinkIngest

/// The facts of the device of one decision, taken from the decision itself.
///
/// Every user has that device with its index, or no device if the decision has none. Only its decision may be read.
final class DecidedDevice: KnownDevices {
    private var given = GivenDevices()
    /// The memory of `device`.
    private var arena = OutputArena(chunkBytes: 512)
    private var device: ByteView?
    private var index = 0
    private var hasFacts = false

    /// Creates no device.
    init() {}

    /// Creates the device of a decision with its member `facts`.
    convenience init(_ device: [UInt8]?, _ facts: [UInt8]?, index: Int) {
        self.init()
        set(device, facts, index: index)
    }

    /// Takes the device of another decision.
    ///
    /// - Parameters:
    ///   - device: The id of the device, or nil if the decision has a user.
    ///   - facts: The member `facts` of the decision, or nil.
    ///   - index: The index of the device in the event.
    func set(_ device: [UInt8]?, _ facts: [UInt8]?, index: Int) {
        arena.reset()
        self.device = device.map { arena.copy($0) }
        self.index = index
        if hasFacts { given = GivenDevices() }
        hasFacts = false
        guard let device, let facts else { return }
        given.add(device, facts)
        hasFacts = true
    }

    func facts(of id: ByteView) -> ByteView? { hasFacts ? given.facts(of: id) : nil }

    func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int {
        guard let device else { return 0 }
        // The devices before it are unknown, and are not decided.
        for _ in 0...index { body(device) }
        return index + 1
    }
}
