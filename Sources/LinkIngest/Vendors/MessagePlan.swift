internal import ByteStorage
internal import StrictJSON

/// The result of reading the last message of a shape.
///
/// Messages of one shape have the same names, structure, and kinds of values (see `JSONTape.shape`). So the same is
/// found in a later message if the tests of its values have the same results as in the first message.
struct MessagePlan<Result: BitwiseCopyable>: BitwiseCopyable {
    /// The shape, or 0 if there is no plan.
    var shape: UInt32 = 0
    /// The inputs of the result other than the message, as bits.
    var input: UInt32 = 0
    var result: Result
    var testCount = 0
    /// The tests in the order in which they were made, at most `ValueTests.most`.
    let tests: UnsafeMutablePointer<ValueTest>
}

/// A test of a value, with its result.
struct ValueTest: BitwiseCopyable {
    enum Kind: UInt8 {
        /// The text of the value equals a text of the vendor table or the program.
        case equals
        /// The text of the value begins with such a text.
        case begins
        /// The text of the value is empty.
        case empty
    }

    var node: Int32
    var kind: Kind
    var passes: Bool
    var text: ByteView
}

/// The tests of values that a reading makes, while they are recorded.
struct ValueTests: ~Copyable {
    /// The limit of tests in a plan.
    static let most = 16

    private let tests = UnsafeMutablePointer<ValueTest>.allocate(capacity: most)
    private var count = 0
    private(set) var isRecording = false

    deinit { tests.deallocate() }

    /// Begins to record tests.
    mutating func begin() {
        count = 0
        isRecording = true
    }

    /// Stops recording, because the result depends on more than tests of values.
    mutating func giveUp() { isRecording = false }

    @inline(__always)
    mutating func add(_ kind: ValueTest.Kind, _ node: Int32, _ text: ByteView = .empty, passes: Bool) {
        if isRecording { record(ValueTest(node: node, kind: kind, passes: passes, text: text)) }
    }

    @inline(never)
    private mutating func record(_ test: ValueTest) {
        if count == Self.most { return giveUp() }
        (tests + count).initialize(to: test)
        count += 1
    }

    /// Ends recording, and copies the tests to a plan, which has a shape after that.
    mutating func end<Result>(
        in plan: UnsafeMutablePointer<MessagePlan<Result>>, shape: UInt32, input: UInt32, _ result: Result
    ) {
        guard isRecording else { return }
        isRecording = false
        plan.pointee.shape = shape
        plan.pointee.input = input
        plan.pointee.result = result
        plan.pointee.testCount = count
        plan.pointee.tests.update(from: tests, count: count)
    }
}

/// The plans of the last shapes.
struct MessagePlans: ~Copyable {
    /// The number of shapes, which is the limit of templates in `TapeTemplates`.
    private static let shapes = 8

    /// The envelopes by shape.
    private let envelopes = Self.allocate(shapes, PushMessage(members: EnvelopeMembers()))
    /// The readings of messages that open a link, by shape and class of devices.
    private let readings = Self.allocate(shapes * PlatformClass.count, VendorReading())

    deinit {
        Self.deallocate(envelopes, Self.shapes)
        Self.deallocate(readings, Self.shapes * PlatformClass.count)
    }

    private static func allocate<Result>(_ count: Int, _ empty: Result) -> UnsafeMutablePointer<MessagePlan<Result>> {
        let plans = UnsafeMutablePointer<MessagePlan<Result>>.allocate(capacity: count)
        for index in 0..<count {
            (plans + index).initialize(to: MessagePlan(result: empty, tests: .allocate(capacity: ValueTests.most)))
        }
        return plans
    }

    private static func deallocate<Result>(_ plans: UnsafeMutablePointer<MessagePlan<Result>>, _ count: Int) {
        for index in 0..<count { plans[index].tests.deallocate() }
        plans.deallocate()
    }

    /// Returns the plan for the envelope of a shape, which can still be the plan for another shape.
    mutating func envelope(_ shape: UInt32) -> UnsafeMutablePointer<MessagePlan<PushMessage>> {
        envelopes + Int(shape) % Self.shapes
    }

    /// Returns the plan for the reading of a shape by a class of devices, which can still be for another shape.
    mutating func reading(
        _ shape: UInt32, _ platform: PlatformClass
    ) -> UnsafeMutablePointer<MessagePlan<VendorReading>> {
        readings + Int(shape) % Self.shapes * PlatformClass.count + Int(platform.rawValue)
    }
}

extension VendorReader {
    /// Returns a Boolean value that indicates whether a plan is for the open message: it has the shape, the input, and
    /// values that pass the same tests.
    @inline(__always)
    mutating func applies<Result>(_ plan: UnsafeMutablePointer<MessagePlan<Result>>, _ input: UInt32) -> Bool {
        guard tape.shape != 0, plan.pointee.shape == tape.shape, plan.pointee.input == input else { return false }
        for index in 0..<plan.pointee.testCount where !repeats(plan.pointee.tests + index) { return false }
        return true
    }

    private mutating func repeats(_ test: UnsafeMutablePointer<ValueTest>) -> Bool {
        let passes =
            switch test.pointee.kind {
            case .equals: tape.text(of: test.pointee.node) == test.pointee.text
            case .begins: tape.text(of: test.pointee.node).hasPrefix(test.pointee.text)
            case .empty: tape.nodes[Int(test.pointee.node)].text.isEmpty
            }
        return passes == test.pointee.passes
    }

    // MARK: The envelope

    /// Detects the envelope as `detect` does, or by the plan of the shape.
    ///
    /// - Parameter input: The inputs of the envelope other than the body, as bits.
    mutating func detectKnown(
        _ input: UInt32, into message: UnsafeMutablePointer<PushMessage>, _ detect: (inout VendorReader) -> PushMessage?
    ) -> Bool {
        let plan = plans.envelope(tape.shape)
        if applies(plan, input) {
            message.initialize(to: plan.pointee.result)
            return true
        }
        let count = notes.count
        if tape.shape != 0 { tests.begin() }
        guard let found = detect(&self) else {
            tests.giveUp()
            return false
        }
        message.initialize(to: found)
        // Later steps read the events of vendors with what is loaded for the detection.
        if found.kind == .record || found.kind == .cloudEvents || notes.count > count { tests.giveUp() }
        tests.end(in: plan, shape: tape.shape, input: input, found)
        return true
    }

    // MARK: The reading

    /// Reads a message for a class of devices as `read` does, or by the plan of the shape.
    mutating func read(
        _ push: UnsafePointer<PushMessage>, for platform: PlatformClass, action: ByteView, isBackground: Bool
    ) -> VendorReading {
        // The tests of a tapped button compare with a text of the record, which a plan cannot keep.
        let input = UInt32(push.pointee.kind.rawValue) << 8 | UInt32(push.pointee.type?.rawValue ?? 7)
        let hasPlan =
            tape.shape != 0 && action.isEmpty && !isBackground && push.pointee.recordForm < 0 && !push.pointee.isDryRun
        let plan = plans.reading(tape.shape, platform)
        if hasPlan, applies(plan, input), let reading = known(plan) { return reading }
        var message = message(push, for: platform, action: action)
        message.isBackground = isBackground
        if !hasPlan { return read(message) }
        tests.begin()
        let reading = read(message)
        if reading.body.place == nil || reading.allNotes > 0 { tests.giveUp() }
        tests.end(in: plan, shape: tape.shape, input: input, reading)
        return reading
    }

    /// Returns the reading of the open message by the plan of its shape, or nil if its ids or its link are not usable
    /// as they are.
    private mutating func known(_ plan: UnsafeMutablePointer<MessagePlan<VendorReading>>) -> VendorReading? {
        var reading = plan.pointee.result
        reading.firstNote = notes.count
        tape.forgetContents()
        namedButton = -1
        for id in [reading.message, reading.campaign] where id >= 0 && !isUsableID(id) { return nil }
        let outcome = outcome(ofLinkAt: reading.body.node, reading.body.place)
        guard let outcome, outcome.kind == .link, notes.count == reading.firstNote else {
            notes.truncate(to: reading.firstNote)
            return nil
        }
        reading.body = outcome
        return reading
    }
}
