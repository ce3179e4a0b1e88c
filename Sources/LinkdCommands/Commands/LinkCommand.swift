internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// `linkd link`: writes the link that opens a screen.
enum LinkCommand {
    static let command = Command(
        path: ["link"],
        summary: "Write the link that opens a screen",
        discussion: [
            "SCREEN is a screen of the table, as catalog/item, or item if one coordinator has it. The link is resolved "
                + "again before it is printed, so it opens the screen with this data on this device. A device without "
                + "facts lacks screens that need a version or a session: pass --device.",
            "--qr also writes the link as a QR code, which phones read with their cameras. A code holds at most "
                + "\(QRCode.maxBytes) bytes. With --qr - the code is on standard output, and the link on standard "
                + "error.",
        ],
        flags: [
            Flag(
                "--data", .text(bytes: 2...65536), default: "{}", placeholder: "JSON",
                "Object with the fields of each model, and a text for each capture that no field is bound to."),
            Flag("--route", .text(bytes: 1...64), placeholder: "ID", "Use this route. Then SCREEN can be left out."),
            Flag("--scheme", .text(bytes: 1...64), placeholder: "SCHEME", "Scheme of the link."),
            Flag("--host", .text(bytes: 1...253), placeholder: "HOST", "Host of the link."),
            Flag("--device", .text(bytes: 2...65536), placeholder: "JSON", "Facts about the device."),
            Flag(
                "--qr", .file, placeholder: "FILE.svg",
                "Write a QR code of the link to this file, or - for standard output."),
            Flag("--force", "Replace a file of --qr that exists."),
            Flag("--json", "Print the link, its route, and the decision as one JSON object."),
        ],
        settings: .routes,
        operands: Operands(name: "SCREEN", help: "The screen that the link opens.", count: 0...1),
        examples: [
            "linkd link --table my-shop.json product --data '{\"Product\":{\"id\":7}}'": "Prints shop://p/7.",
            "linkd link --table config/routes/shop.json catalog/list --host shop.example --qr new.svg":
                "A web link, and its QR code for a poster.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let device = try DeviceFlag.object(call.text("device")).map { DeviceFacts($0) } ?? DeviceFacts()
        let data = try data(call)
        guard !call.operands.isEmpty || call.text("route") != nil else {
            throw CommandFailure(
                .usage, "no screen is specified", advice: "pass a screen such as catalog/item, or --route ID")
        }
        if let path = call.text("qr"), let name = path.split(separator: "/").last, let dot = name.lastIndex(of: "."),
            name[dot...].lowercased() != ".svg"
        {
            throw CommandFailure(
                .usage, "--qr: \(Escaping.visible(path)) does not end with .svg, but the image is SVG",
                advice: "pass a name that ends with .svg, and convert the image if you need another format")
        }
        let isPiped = call.text("qr") == Platform.standardStream
        if isPiped, call.json {
            throw CommandFailure(
                .usage, "standard output cannot have both the QR code and the JSON object",
                advice: "pass --qr FILE.svg, or leave out --json")
        }
        if !isPiped, let path = call.text("qr"), Platform.exists(path), !call.isOn("force") {
            throw CommandFailure(
                .usage, "--qr: \(Escaping.visible(path)) exists",
                advice: "name a file that does not exist, or pass --force to replace it")
        }
        let paths = try TablePaths.of(call.settings(), ShippedFiles(environment: call.environment))
        let link = try link(call, data, device, paths)
        try checkText(link.link, call)
        if let path = call.text("qr") {
            guard let code = QRCode(Array(link.link.utf8)) else {
                throw CommandFailure(
                    .badData,
                    "the link has \(link.link.utf8.count) bytes, but a QR code holds at most \(QRCode.maxBytes)",
                    advice: "pass less data, or leave out --qr")
            }
            if isPiped {
                call.console.note(Escaping.visible(link.link))
                call.console.out.write(code.svg)
                return .success
            }
            try OutputFile.write(code.svg, to: path, flag: "qr", replaces: call.isOn("force"))
        }
        guard call.json else {
            call.console.out.line(Escaping.visible(link.link))
            return .success
        }
        call.console.out.json { json in
            json.text("link", link.link)
            json.text("route", link.route)
            json.raw("decision", link.decision.json)
        }
        return .success
    }

    /// Checks that a link is read and printed as it is.
    private static func checkText(_ link: String, _ call: Invocation) throws(CommandFailure) {
        // Without escapes of the table's links, the data is in the link as it is.
        guard link.utf8.last != UInt8(ascii: " ") else {
            throw CommandFailure(
                .badData, "the link would end with a space, which readers of events remove",
                advice: "pass data that does not end with a space")
        }
        guard call.json || Escaping.visible(link) == link else {
            throw CommandFailure(
                .badData, "the link has characters that cannot be printed as they are",
                advice: "pass --json, or data without these characters")
        }
    }

    private static func data(_ call: Invocation) throws(CommandFailure) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue.parse(Array((call.text("data") ?? "{}").utf8))
        } catch {
            throw CommandFailure(
                .usage, "flag --data, byte \(error.offset): \(error.text)",
                advice: "pass an object such as {\"Product\":{\"id\":7}}")
        }
    }

    /// Returns the link of the only table that has the screen and the route.
    private static func link(
        _ call: Invocation, _ data: JSONValue, _ device: DeviceFacts, _ paths: [String]
    ) throws(CommandFailure) -> ScreenLink {
        var found: [(path: String, link: ScreenLink)] = []
        var failure: ScreenLink.Failure?
        for path in paths {
            let table = try CheckedTable.validTable(at: path)
            do throws(ScreenLink.Failure) {
                found.append(
                    (
                        path,
                        try ScreenLink(
                            to: call.operands.first, route: call.text("route"), data: data, scheme: call.text("scheme"),
                            host: call.text("host"), device: device, in: table)
                    ))
            } catch {
                // What a table with the screen says is more informative than what another one does.
                if failure.map({ $0.kind == .unknown && error.kind != .unknown }) ?? true { failure = error }
            }
        }
        if found.count == 1 { return found[0].link }
        if found.count > 1 {
            throw CommandFailure(
                .usage, "\(found.count) tables have a link to the screen",
                advice: "pass --table with one of \(Escaping.visible(found.map(\.path).joined(separator: ", ")))")
        }
        throw CommandFailure(
            failure?.kind == .unreachable ? .badData : .usage,
            Escaping.visible(failure?.message ?? "there is no table"),
            advice: Escaping.visible(failure?.advice ?? "pass --table FILE"))
    }
}
