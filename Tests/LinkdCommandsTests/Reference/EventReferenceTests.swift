internal import ByteStorage
internal import LinkCoordinator
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkIngest
@testable internal import LinkdCommands

/// The reference of events against the reader and the schema.
@Suite struct EventReferenceTests {
    let page: ReferencePage

    init() throws { page = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/EventReference.md") }

    @Test("The reference and the schema have the members of an event")
    func members() throws {
        let names = Set(page.table("Events", "Member")?.names ?? [])
        // `user` is a member only with a registry of devices.
        #expect(names == Set(EventMember.names.map(\.description) + ["$schema", "user"]))
        let properties = try SchemaKeyTests.schema("event")["properties"]?.object?.map(\.name)
        #expect(names == Set(properties ?? []))
    }

    @Test("The reference has the members of a device")
    func devices() throws {
        let schema = try SchemaKeyTests.schema("event")
        let properties = schema["$defs"]?["device"]?["properties"]?.object?.map(\.name)
        #expect(page.table("Devices", "Member")?.names == properties)
    }

    @Test("The reference has the reasons of refusals, in their order")
    func refusals() {
        let others: [DeadLetterReason] = [
            .nullValue, .emptyValue, .applicationUnknown, .crashLoop, .oversizeOutput, .refusedOutput,
        ]
        let expected = DeadLetterReason.allCases.filter { !others.contains($0) }
        #expect(page.table("Refusals", "Reason")?.names == expected.map(\.rawValue))
    }

    @Test("The reference has the limits of an event with their settings")
    func limits() throws {
        let limits = Limits()
        let table = try #require(page.table("Limits", "Limit"))
        let expected = [
            limits.recordBytes, limits.devices, RecordBatch.limit, limits.depth, Limits.eventIDBytes,
            Limits.deviceIDBytes,
            Limits.factBytes, Limits.factElements, Limits.headerBytes, Limits.contextNames,
            Limits.contextTextBytes, Limits.contextBytes, VendorReader.idBytes, JSONTape.most,
            LinkPlatforms.maxSteps,
        ]
        #expect(table.column("Default") == expected.map { "\($0)" })
        for name in table.column("Setting").flatMap(ReferencePage.code) {
            #expect(SettingsTable.rows.contains { $0.name == name }, "\(name)")
        }
    }

    @Test("The headers in the reference determine how a record is read, or are copied")
    func headers() throws {
        let names = try #require(page.table("Headers", "Header")).names
        let copied = ["traceparent", "tracestate", "baggage"]
        for name in names where !copied.contains(name) {
            var headers = EnvelopeHeaders()
            let isRefused = Array(name.utf8).withUnsafeBufferPointer { name in
                headers.add(name: ByteView(name), value: ByteView("gzip" as StaticString))
                return WireFormat.refusal(ofHeader: ByteView(name), value: ByteView("gzip" as StaticString)) != nil
            }
            #expect(!headers.isEmpty || isRefused, "\(name)")
        }
        #expect(Array(names.suffix(3)) == copied && names.count == 10)
    }

    /// Returns the part of a note before the value that it is about.
    static func code(_ note: String) -> String {
        note.firstIndex { $0 == ":" || $0 == " " }.map { String(note[...$0]) } ?? note
    }

    @Test("The references of events and decisions have the notes that readers of records add")
    func notes() throws {
        let names = try #require(page.table("Notes", "Note")).names
        let decision = try ReferencePage(path: "Sources/LinkCoordinator/LinkCoordinator.docc/DecisionReference.md")
        #expect(decision.table("Notes about the record", "Note")?.names == names)
        let sources: Set = [
            "Sources/LinkIngest/Event/LinkUnwrapper.swift", "Sources/LinkCoordinator/Request/RequestView.swift",
        ]
        let source = try Checkout.trackedFiles().filter { sources.contains($0.path) }.compactMap(\.text).joined()
        let codes = Set(source.matches(of: #/"(unwrapped:|short_link:|link_[a-z_]+)"/#).map { String($0.1) })
        #expect(codes.count == 8)
        #expect(Set(names.map(Self.code)) == codes.union(VendorNote.Code.allCases.map(\.text.description)))
    }

    @Test("The event in the reference can be read")
    func example() throws {
        for block in page.blocks("Events") where block.language == "json" {
            let event = try LinkEvent.read(Array(block.text.utf8))
            #expect(event.devices.first?.facts.claims == ["session"])
            #expect(event.expires == 1_795_255_200_000)
        }
    }
}
