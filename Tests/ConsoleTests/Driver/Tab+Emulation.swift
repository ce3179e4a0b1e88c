import Foundation

/// Commands of the Chrome DevTools Protocol, which the driver passes on.
extension Tab {
    /// The colors that the user prefers.
    enum Scheme: String, CaseIterable, Sendable {
        case light, dark
    }

    /// Sends a command of the Chrome DevTools Protocol.
    @discardableResult
    func command(_ name: String, _ parameters: JSON = [:]) throws -> JSON {
        try call("POST", "/goog/cdp/execute", ["cmd": .text(name), "params": parameters])
    }

    /// Sets what media queries see.
    func emulate(_ scheme: Scheme, reducedMotion: Bool = false) throws {
        try command(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": .text(scheme.rawValue)],
                    ["name": "prefers-reduced-motion", "value": .text(reducedMotion ? "reduce" : "no-preference")],
                ]
            ])
    }

    /// Sets the size of the page in CSS pixels, and the number of device pixels of each.
    func resize(width: Int, height: Int, scale: Double = 1) throws {
        try command(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)),
                "deviceScaleFactor": .number(scale), "mobile": false,
            ])
        let _: Bool = try eventually("a page of \(width) px") {
            try run("return innerWidth === arguments[0];", [.number(Double(width))]) ? true : nil
        }
    }

    /// A picture of a part of the page as base64 of PNG, or of what is visible.
    func picture(of area: Area? = nil) throws -> String {
        var parameters: [String: JSON] = ["format": "png", "optimizeForSpeed": true]
        if let area {
            parameters["clip"] = [
                "x": .number(area.x), "y": .number(area.y), "width": .number(area.width),
                "height": .number(area.height), "scale": 1,
            ]
            parameters["captureBeyondViewport"] = true
        }
        return try command("Page.captureScreenshot", .object(parameters))["data"].text ?? ""
    }

    /// A picture of what is visible, as PNG.
    func screenshot() throws -> Data {
        let text: String = try call("GET", "/screenshot")
        return Data(base64Encoded: text) ?? Data()
    }
}

/// A rectangle in CSS pixels of a page.
struct Area: Codable, Sendable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
}
