internal import ByteStorage
internal import StrictJSON

// A table of several files.
extension VendorTable {
    /// Returns a table with the rows of this table and the rows of another file.
    ///
    /// A row replaces the row with its id, in the place of that one. The other rows of the file have precedence over
    /// the rows of this table, because a file that is added knows the shipped vendors, but not the other way round.
    ///
    /// - Parameters:
    ///   - other: The table of the file.
    ///   - file: The bytes of the file, for the locations of problems.
    /// - Throws: The problems that only the rows of both have: too many rows, a kind of records with two forms, and
    ///   examples of the file that have another result.
    package func adding(_ other: VendorTable, of file: [UInt8]) throws(RuleFileFailure) -> VendorTable {
        var rows = vendors
        var added: [VendorRow] = []
        for row in other.vendors {
            if let place = rows.firstIndex(where: { $0.id == row.id }) { rows[place] = row } else { added.append(row) }
        }
        rows = added + rows
        var problems = other.duplicates(with: rows, in: file)
        if rows.count > VendorTableReader.mostVendors {
            let most = VendorTableReader.mostVendors
            problems.append(
                RuleFileProblem(
                    code: .tooMany, location: JSONLocation(line: 1, column: 1, pointer: "/vendors"),
                    expected: "expected at most \(most) vendors in all files, found \(rows.count)"))
        }
        if !problems.isEmpty { throw RuleFileFailure(problems: problems) }
        let table = VendorTable(rows.map(\.json))
        problems = table.failedExamples(of: other.vendors, in: file)
        if !problems.isEmpty { throw RuleFileFailure(problems: problems) }
        return table
    }

    /// Returns a problem for each kind of records of this table's rows that another row has too.
    private func duplicates(with rows: [VendorRow], in file: [UInt8]) -> [RuleFileProblem] {
        var log = RuleFileLog(most: .max)
        for vendor in vendors {
            for form in vendor.forms {
                guard let envelope = form["envelope"]?.string,
                    let owner = rows.first(where: { $0.id != vendor.id && $0.envelopes.contains(envelope) })
                else { continue }
                let expected = "expected a kind that no other form has, but the vendor `\(owner.id)` has it"
                log.add(.duplicate, "envelope", of: form, expected)
            }
        }
        return log.problems(in: file)
    }
}

// The examples of rows, and marks that every push has, so that the row would take the messages of all senders.
extension VendorTable {
    /// Reads a table and runs its examples.
    ///
    /// - Parameter json: The bytes of the file.
    /// - Returns: The table, or nil if the file is not valid, and the problems with the file and its examples.
    package static func check(_ json: [UInt8]) -> (table: VendorTable?, problems: [RuleFileProblem]) {
        do throws(RuleFileFailure) {
            let table = try VendorTable(json: json)
            var log = RuleFileLog(most: .max)
            for vendor in table.vendors where vendor.examples.isEmpty {
                log.add(.badValue, "examples", of: vendor.json, "expected at least one message and its result")
            }
            // A form that recognizes a message alone also recognizes it beside the others, so that each form is tried
            // only for a table with such a form: it takes longer than all other checks together.
            let isSelective = !table.recognizesPlainMessage(on: ["", "ios", "android", "web"])
            for vendor in isSelective ? [] : table.vendors {
                for form in vendor.forms where isCommon(form, of: vendor) {
                    let expected = "expected marks that only messages of this vendor have, found marks of every push"
                    log.add(.badValue, "marks", of: form, expected)
                }
            }
            return (table, log.problems(in: json) + table.failedExamples(of: table.vendors, in: json))
        } catch {
            return (nil, error.problems)
        }
    }

    /// Returns the problems of a file and of its examples.
    package static func problems(of json: [UInt8]) -> [RuleFileProblem] { check(json).problems }

    /// Returns the differences between the examples of rows and the results of this table.
    private func failedExamples(of rows: [VendorRow], in json: [UInt8]) -> [RuleFileProblem] {
        var reader = EventReader(vendors: self)
        var log = RuleFileLog(most: .max)
        for vendor in rows {
            for example in vendor.examples {
                for difference in Self.differences(example, of: vendor.id, &reader) {
                    log.add(.example, at: difference.offset, difference.text)
                }
            }
        }
        return log.problems(in: json)
    }

    /// Returns the members of an example that the result of its message does not have.
    private static func differences(
        _ example: JSONValue, of vendor: String, _ reader: inout EventReader
    ) -> [(offset: Int, text: String)] {
        let found: MessageExplanation
        switch read(example, &reader) {
        case .success(let explanation): found = explanation
        case .failure(let failure):
            return [(example.offset, "expected a message, found the failure `\(failure.reason.rawValue)`")]
        }
        var differences: [(offset: Int, text: String)] = []
        func compare(_ name: String, _ member: JSONValue?, _ expected: String?, _ actual: String?) {
            guard let expected, expected != actual else { return }
            let text = actual.map { $0.isEmpty ? "none" : "`\($0)`" } ?? "none"
            let wanted = expected.isEmpty ? "no \(name)" : "the \(name) `\(expected)`"
            differences.append(((member ?? example).offset, "expected \(wanted), found \(text)"))
        }
        compare("vendor", nil, vendor, found.vendor)
        compare("link", example["link"], example["link"]?.string, found.link ?? found.reason)
        compare("reason", example["reason"], example["reason"]?.string, found.reason ?? found.link)
        for (name, actual) in [
            ("pointer", found.pointer), ("message", found.message), ("campaign", found.campaign),
        ] { compare(name, example[name], example[name]?.string, actual) }
        let notes = example["notes"]?.array.map { $0.compactMap(\.string).joined(separator: ", ") }
        compare("notes", example["notes"], notes, found.notes.joined(separator: ", "))
        return differences
    }

    /// Reads the message of an example as the payload of an event.
    private static func read(
        _ example: JSONValue, _ reader: inout EventReader
    ) -> Result<MessageExplanation, IngestFailure> {
        var members = ["\"payload\":" + (example["payload"]?.text ?? "{}")]
        for name in ["payloadType", "action"] {
            if let value = example[name] { members.append("\"\(name)\":\(value.text)") }
        }
        let platform = example["platform"].map { ",\"platform\":\($0.text)" } ?? ""
        members.append("\"device\":{\"id\":\"device\"\(platform)}")
        let event = Array("{\(members.joined(separator: ","))}".utf8)
        return event.withUnsafeBufferPointer { event in
            guard reader.readInPlace(value: ByteView(event), key: nil), reader.selectDevice(at: 0) else {
                return .failure(reader.failure)
            }
            guard let explanation = reader.explainMessage() else {
                return .failure(IngestFailure(.missingLink, "expected a push message"))
            }
            return .success(explanation)
        }
    }

    /// Messages of no vendor, with the members that the push services define.
    ///
    /// The members of a form that recognizes one of them identify no vendor.
    private static let plainMessages: [String] = {
        let alert = #"{"title":"t","subtitle":"s","body":"b","loc-key":"k","title-loc-key":"k"}"#
        let aps =
            #"{"alert":\#(alert),"badge":1,"sound":"default","category":"c","thread-id":"i","mutable-content":1,"#
            + #""interruption-level":"active","relevance-score":1,"target-content-id":"c","filter-criteria":"f","#
            + #""url-args":[],"timestamp":1,"event":"update","content-state":{},"stale-date":1,"dismissal-date":1}"#
        let shown = #"{"title":"t","body":"b","image":"https://i.example/i.png","icon":"i","click_action":"a"}"#
        let data = #"{"title":"t","body":"b","message":"m","image":"https://i.example/i.png","sound":"s"}"#
        let parts =
            #""notification":\#(shown),"data":\#(data),"android":{"priority":"high","notification":\#(shown),"#
            + #""data":\#(data)},"apns":{"headers":{},"payload":{"aps":\#(aps)}},"webpush":{"headers":{},"#
            + #""notification":\#(shown),"data":\#(data)},"fcm_options":{"analytics_label":"l"}"#
        // The members that FCM itself adds to what a device receives.
        let received =
            #""from":"1","collapse_key":"k","google.message_id":"1","google.sent_time":1,"google.ttl":1,"#
            + #""google.original_priority":"high","google.delivered_priority":"high","google.product_id":1,"#
            + #""google.c.sender.id":"1","google.c.fid":"f","google.c.a.e":"1","gcm.message_id":"1","#
            + #""gcm.notification.e":"1","gcm.notification.title":"t","gcm.notification.body":"b","gcm.n.e":"1","#
            + #""gcm.n.title":"t","gcm.n.body":"b","gcm.n.analytics_data":{},"gcm.n.click_action":"a","#
            + #""gcm.n.link":"l","gcm.n.link_android":"l","gcm.n.icon":"i","gcm.n.tag":"t","gcm.n.image":"i","#
            + #""gcm.n.android_channel_id":"c","gcm.notification.click_action":"a","gcm.notification.icon":"i","#
            + #""gcm.notification.tag":"t","google.c.a.c_id":"1","google.c.a.c_l":"l","google.c.a.ts":"1","#
            + #""google.c.a.udt":"0","google.c.a.m_l":"l""#
        return [
            #"{\#(received)}"#, #"{"aps":\#(aps),\#(received)}"#,
            #"{"aps":\#(aps)}"#, #"{"aps":{"alert":"b","content-available":1}}"#, #"{"aps":\#(aps),"data":\#(data)}"#,
            #"{"message":{"token":"t",\#(parts)}}"#, #"{"message":{"topic":"t",\#(parts)},"validate_only":false}"#,
            #"{"token":"t",\#(parts)}"#,
            #"{"to":"t","priority":"high","collapse_key":"k","notification":\#(shown),"data":\#(data)}"#,
            data, #"{"notification":\#(shown),"data":\#(data)}"#,
            #"{"web_push":8030,"notification":{"title":"t","body":"b","navigate":"https://w.example/"}}"#,
        ]
    }()

    /// Returns a Boolean value that indicates whether a form recognizes a message of no vendor.
    private static func isCommon(_ form: JSONValue, of vendor: VendorRow) -> Bool {
        let members = (vendor.json.object ?? []).map { member in
            member.name == "forms" ? JSONMember(name: member.name, value: JSONValue(.array([form]))) : member
        }
        let table = VendorTable([JSONValue(.object(members))])
        let isOfRecords = table.vendors.first?.surfaces == .record
        return table.recognizesPlainMessage(on: isOfRecords ? [""] : ["ios", "android", "web"])
    }

    /// Returns a Boolean value that indicates whether a form of this table recognizes a message of no vendor.
    private func recognizesPlainMessage(on platforms: [String]) -> Bool {
        var reader = EventReader(vendors: self)
        let notes = vendors.flatMap(\.envelopes).map { "envelope_also:" + $0 }
        return platforms.contains { platform in
            Self.plainMessages.contains { message in
                let device = #"{"id":"d","platform":"\#(platform)"}"#
                let event = Array(#"{"device":\#(device),"payload":\#(message)}"#.utf8)
                return event.withUnsafeBufferPointer { event in
                    guard reader.readInPlace(value: ByteView(event), key: nil), reader.selectDevice(at: 0),
                        let found = reader.explainMessage()
                    else { return false }
                    return found.vendor != nil || found.recordNotes.contains(where: notes.contains)
                }
            }
        }
    }
}
