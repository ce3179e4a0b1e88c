internal import ByteStorage
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The output of forecasts.
struct ForecastReport {
    /// A line of a forecast.
    private struct Line {
        var row: LinkForecast.Row
        var condition: String?
    }

    /// The forecasts.
    let run: ForecastRun
    /// The census, or nil if its devices have too many kinds.
    let census: DeviceCensus?
    /// The number of devices below which rows are merged.
    let least: Int

    /// Returns the lines of a forecast, and the number of devices in smaller rows.
    private func lines(of forecast: LinkForecast) -> (lines: [Line], merged: Int) {
        let rows = forecast.rows
        let shown = rows.filter { $0.count >= least }
        let conditions = census.map { run.conditions(of: shown, in: forecast, $0) }
        let lines = shown.enumerated().map { Line(row: $1, condition: conditions?[$0]) }
        return (lines, rows.reduce(0) { $0 + $1.count } - shown.reduce(0) { $0 + $1.count })
    }

    private var unknown: Int { census?.merged ?? 0 }

    /// Prints the forecasts as text.
    func print(on out: Channel) {
        for forecast in run.forecasts {
            out.line(out.style.name(Escaping.visible(DisplayWidth.cut(forecast.link, to: 200))))
            let (lines, merged) = lines(of: forecast)
            let total = Counts.grouped(Int64(forecast.devices + unknown))
            for (index, line) in lines.enumerated() {
                let count = Counts.grouped(Int64(line.row.count)) + (index == 0 ? " of \(total)" : "")
                let role: Style.TextRole? = DecisionView.role(of: line.row.destination.outcome)
                let condition = line.condition.map { ": " + $0 } ?? ""
                let example = line.row.example.map { "  for example " + String(decoding: $0, as: UTF8.self) } ?? ""
                out.line(
                    "  " + count + " " + out.style.paint(Escaping.visible(line.row.destination.text), role)
                        + Escaping.visible(condition) + out.style.paint(Escaping.visible(example), .dim))
            }
            if lines.isEmpty { out.line("  0 of \(total)") }
            if merged > 0 { out.line("  \(Counts.grouped(Int64(merged))) in rows of fewer than \(least)") }
            if unknown > 0 {
                out.line("  \(Counts.grouped(Int64(unknown))) not known, because the census has merged their facts")
            }
        }
    }

    /// Prints a line of JSON for each link.
    func printJSON(on out: Channel) {
        for forecast in run.forecasts {
            let (lines, merged) = lines(of: forecast)
            out.json { json in
                json.text("link", forecast.link)
                json.number("devices", Int64(forecast.devices + unknown))
                json.text("method", census == nil ? "devices" : "kinds")
                json.number("kinds", census.map { Int64($0.entries.count) })
                json.objects("rows", of: lines) { json, line in write(line, to: &json) }
                if merged > 0 { json.number("merged", Int64(merged)) }
                if unknown > 0 { json.number("unknown", Int64(unknown)) }
            }
        }
    }

    private func write(_ line: Line, to json: inout JSONText) {
        let destination = line.row.destination
        json.number("devices", Int64(line.row.count))
        json.text("outcome", destination.outcome)
        json.text("screen", destination.screen)
        json.text("url", destination.url)
        json.text("guard", destination.rule)
        json.text("reason", destination.reason)
        json.text("detail", destination.detail)
        json.text("condition", line.condition)
        json.beginObject("example")
        json.text("id", line.row.example.map { String(decoding: $0, as: UTF8.self) })
        json.raw("device", Array(line.row.facts.json.utf8))
        if !line.row.decision.isEmpty { json.raw("decision", line.row.decision) }
        json.endObject()
    }

    /// The names of the columns.
    static let columns = "link,devices,total,outcome,screen,url,guard,reason,detail,condition,example"

    /// Prints comma-separated values.
    func printCSV(on out: Channel) {
        out.line(Self.columns)
        for forecast in run.forecasts {
            let total = "\(forecast.devices + unknown)"
            let (lines, merged) = lines(of: forecast)
            for line in lines {
                let destination = line.row.destination
                let texts = [
                    destination.outcome, destination.screen, destination.url, destination.rule, destination.reason,
                    destination.detail, line.condition, line.row.example.map { String(decoding: $0, as: UTF8.self) },
                ]
                printCells([forecast.link, "\(line.row.count)", total] + texts.map { $0 ?? "" }, on: out)
            }
            for (count, outcome) in [(merged, "merged"), (unknown, "unknown")] where count > 0 {
                printCells([forecast.link, "\(count)", total, outcome] + Array(repeating: "", count: 7), on: out)
            }
        }
    }

    private func printCells(_ cells: [String], on out: Channel) {
        var line = OutputArena(chunkBytes: 4096)
        line.begin()
        for (index, cell) in cells.enumerated() {
            if index > 0 { line.append(",") }
            Array(cell.utf8).withUnsafeBufferPointer {
                CSVText.append(ByteView($0), escaped: out.isTerminal, to: &line)
            }
        }
        out.line(line.finish().string)
    }
}
