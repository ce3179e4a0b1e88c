import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Links with text in other languages.
    @Suite(
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct LanguageTests {
        /// A text of a link in a language.
        struct Sample: Sendable, CustomTestStringConvertible {
            let language: String
            let text: String
            var isRightToLeft = false

            var testDescription: String { language }

            /// The text as a decision contains it, in Unicode normalization form C.
            var canonical: String { text.precomposedStringWithCanonicalMapping }

            /// The text with all of its bytes percent-encoded.
            var encoded: String {
                text.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
        }

        static let samples = [
            Sample(language: "Arabic", text: "أحذية-حمراء-٣٧", isRightToLeft: true),
            Sample(language: "Hebrew", text: "נעליים-אדומות-37", isRightToLeft: true),
            Sample(language: "Persian", text: "کفش-های-قرمز-۳۷", isRightToLeft: true),
            Sample(language: "Russian", text: "красные-туфли"), Sample(language: "Greek", text: "κόκκινα-παπούτσια"),
            Sample(language: "Chinese", text: "红色的鞋子"), Sample(language: "Japanese", text: "赤い靴（サイズ）"),
            Sample(language: "Korean", text: "빨간-신발"), Sample(language: "Hindi", text: "लाल-जूते"),
            Sample(language: "Thai", text: "รองเท้าสีแดง"), Sample(language: "Turkish", text: "kırmızı-ayakkabı-İıŞğ"),
            Sample(language: "German", text: "schöne-rote-Füße-Größe"),
        ]

        let tab: Tab

        init() throws { tab = try Tab.ofTest() }

        /// The elements in which a text is isolated from the direction of what is around it.
        private func isolated(_ text: String, in css: String) throws -> [String] {
            try tab.run(
                """
                const found = [], walker = document.createTreeWalker(document.querySelector(arguments[1]), 4);
                while (walker.nextNode()) {
                    const node = walker.currentNode.parentElement;
                    if (!walker.currentNode.data.includes(arguments[0]) || !node.checkVisibility()) continue;
                    const own = node.closest("bdi, [dir=auto], textarea, pre");
                    const style = own && getComputedStyle(own);
                    found.push(own ? `${own.tagName} ${style.direction} ${style.unicodeBidi}`
                        : `none: ${node.outerHTML}`);
                }
                return found;
                """, [.text(text), .text(css)])
        }

        @Test("Marketing: my link has words of another language. Will people see them as I wrote them?")
        func tried() throws {
            let console = try RunningConsole.offline.get()
            try tab.enterTry(console)
            for sample in Self.samples {
                for written in [sample.text, sample.encoded] {
                    let link = "shop:///search?q=" + written
                    let _: JSON = try tab.run(
                        """
                        const input = document.querySelector("#question");
                        input.value = arguments[0];
                        input.dispatchEvent(new Event("input", { bubbles: true }));
                        """, [.text(link)])
                    try tab.awaitText(written, in: ".link-parts .part")
                    try tab.awaitText("Opens Search", in: "h2.answer")
                    // The value on the phone, and in the phase that binds it.
                    try tab.awaitText(sample.canonical, in: ".phones .bound")
                    try tab.awaitText(sample.canonical, in: ".phases .bindings")
                    #expect(try tab.find("#question").property("value").text == link)
                    for place in [".phones", ".phases"] {
                        let found = try isolated(sample.canonical, in: place)
                        let own = "BDI \(sample.isRightToLeft ? "rtl" : "ltr") isolate"
                        #expect(found.contains(own) && found.allSatisfy { $0.hasSuffix("isolate") }, "\(found)")
                    }
                }
            }
            // The decision's JSON, as a worker writes it.
            try tab.click("summary", containing: "Decision as JSON")
            try tab.awaitText(Self.samples[11].canonical, in: "pre.code")
        }

        @Test(
            "Support: campaigns and screens have names in other languages. Are the rows readable?",
            .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
        func decided() throws {
            let world = try ConsoleWorld.shared.get()
            let device = BrokerEnvironment.uniqueName("مستخدم")
            let lines = try Self.samples.map { sample in
                let link = "shop:///search?q=" + sample.text
                return try world.event(sample.language, link: link, device: device, campaign: sample.text)
            }
            // The newest row is the first, so that the list has the order of the samples.
            try world.send(lines.reversed())
            try tab.enter(world.console)
            let value = device.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            try tab.go(world.console, "#/decisions?device=\(value)")
            try tab.awaitStatus("12 decisions", seconds: 30)
            let cells = try tab.texts(".feed-layer .feed-row .feed-cell")
            #expect(cells.count == 12 * 6)
            let rows = stride(from: 0, to: cells.count, by: 6).map { Array(cells[$0..<$0 + 6]) }
            #expect(rows.allSatisfy { $0[3] == device })
            #expect(rows.map { $0[4] } == Self.samples.map(\.text))
            for text in Self.samples.map(\.text) + [device] {
                let found = try isolated(text, in: ".feed-layer")
                #expect(
                    !found.isEmpty && found.allSatisfy { $0.hasPrefix("BDI") && $0.hasSuffix("isolate") }, "\(found)")
            }
            try tab.click(".feed-layer .feed-row .cell-4 a", containing: Self.samples[0].text)
            try tab.awaitStatus("1 decision")
            try tab.awaitText(Self.samples[0].text, in: ".chip bdi")
            try tab.click(".feed-layer .feed-row .cell-0 a")
            try tab.awaitText(Self.samples[0].text, in: ".phones .bound")
        }

        @Test(
            "On call: most problems are of a campaign with an Arabic name. Is the sentence around it in order?",
            .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"),
            arguments: samples.filter(\.isRightToLeft))
        func sentence(sample: Sample) throws {
            let world = try ConsoleWorld.shared.get()
            let campaign = sample.text + " 12"
            try world.send(
                BrokerEnvironment.uniqueName("rtl"), link: "shop:///absent", device: "d-rtl", campaign: campaign)
            try tab.enter(world.console)
            let value = campaign.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let _: Bool = try eventually("the decision", seconds: 30) {
                try world.console.get("/api/decisions?campaign=\(value)")["total"].number ?? 0 > 0 ? true : nil
            }
            try tab.go(world.console, "#/problems?by=campaign&campaign=\(value)")
            try tab.awaitText("1 problem since", in: ".problems-lead")
            // From left to right as it is read: the words before the name, the name, and the words after it.
            let edges: [Double] = try tab.run(
                """
                const lead = document.querySelector(".problems-lead"), places = [];
                const walker = document.createTreeWalker(lead, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                    const range = document.createRange();
                    const text = walker.currentNode.data;
                    for (const part of ["since", arguments[0], "Show the records"]) {
                        if (!text.includes(part)) continue;
                        range.setStart(walker.currentNode, text.indexOf(part));
                        range.setEnd(walker.currentNode, text.indexOf(part) + part.length);
                        places.push(range.getBoundingClientRect());
                    }
                }
                return places.flatMap(place => [place.left, place.right]);
                """, [.text(campaign)])
            #expect(edges.count == 6 && edges == edges.sorted(), "\(edges)")
        }
    }
}
