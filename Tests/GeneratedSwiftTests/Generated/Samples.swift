// Samples for the generated files of this folder, recorded by the tests.
// swift-format-ignore-file
import Foundation
import LinkCoordinatorFoundation

nonisolated let generatedTypes: [any GeneratedLink.Type] = [
    ShopLink.self,
    ContentFlowLink.self,
    CoordinatorDemoLink.self,
    Easydev991Link.self,
    TripsCalendarLink.self,
    AnchorLink.self,
    OddLink.self,
    EmptyLink.self,
    HostileLink.self,
]

nonisolated extension ShopLink: GeneratedLink {
    typealias Screen = ShopScreen
    static var file: String { "config/routes/shop.json" }
    static var samples: [ShopLink] {
        [
            ShopLink.item(id: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!),
            ShopLink.item(id: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!, count: 12),
            ShopLink.newItems,
            ShopLink.order(order: 12),
            ShopLink.search(q: "q"),
            ShopLink.search(q: "q", tags: ["tags", "42"]),
            ShopLink.legal(rest: ["part"]),
            ShopLink.home,
        ]
    }
}

nonisolated extension ContentFlowLink: GeneratedLink {
    typealias Screen = ContentFlowScreen
    static var file: String { "config/routes/seeds/content-flow.json" }
    static var samples: [ContentFlowLink] {
        [
            ContentFlowLink.first(),
            ContentFlowLink.first(text: "text"),
            ContentFlowLink.second(),
            ContentFlowLink.second(number: 12),
            ContentFlowLink.third,
            ContentFlowLink.sheet(item: "item"),
            ContentFlowLink.notice,
        ]
    }
}

nonisolated extension CoordinatorDemoLink: GeneratedLink {
    typealias Screen = CoordinatorDemoScreen
    static var file: String { "config/routes/seeds/coordinator-demo.json" }
    static var samples: [CoordinatorDemoLink] {
        [
            CoordinatorDemoLink.root,
            CoordinatorDemoLink.product(id: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!, count: 12),
            CoordinatorDemoLink.path(path: ["auth", "a"]),
            CoordinatorDemoLink.path(path: ["auth",
                "a"],
                id: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!,
                count: 12),
        ]
    }
}

nonisolated extension Easydev991Link: GeneratedLink {
    typealias Screen = Easydev991Screen
    static var file: String { "config/routes/seeds/easydev991.json" }
    static var samples: [Easydev991Link] {
        [
            Easydev991Link.simple,
            Easydev991Link.complex(id: "id"),
        ]
    }
}

nonisolated extension TripsCalendarLink: GeneratedLink {
    typealias Screen = TripsCalendarScreen
    static var file: String { "config/routes/seeds/trips-calendar.json" }
    static var samples: [TripsCalendarLink] {
        [
            TripsCalendarLink.details(reference: "reference"),
            TripsCalendarLink.home(),
            TripsCalendarLink.home(rest: ["part"]),
        ]
    }
}

nonisolated extension AnchorLink: GeneratedLink {
    typealias Screen = AnchorScreen
    static var file: String { "Tests/LinkdCommandsTests/Tables/anchor.json" }
    static var samples: [AnchorLink] {
        [
            AnchorLink.item(id: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!),
            AnchorLink.item(id: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!, count: 12),
            AnchorLink.newItems,
            AnchorLink.order(order: 12),
            AnchorLink.search(q: "q"),
            AnchorLink.search(q: "q", tags: ["tags", "42"]),
            AnchorLink.home,
        ]
    }
}

nonisolated extension OddLink: GeneratedLink {
    typealias Screen = OddScreen
    static var file: String { "Tests/LinkdCommandsTests/Tables/odd.json" }
    static var samples: [OddLink] {
        [
            OddLink.ref(id: "zy"),
            OddLink.ref(id: "zy", day: "2025-11-20", flag: true, rate: 1.5),
            OddLink.kind(kind: OddModels.Kind2(rawValue: "new")!, id2: "id"),
            OddLink.kind(kind: OddModels.Kind2(rawValue: "new")!, id: "id", id2: "id"),
            OddLink.page(number: 9, book: "book"),
            OddLink.page(number: 9, book: "book", url: "https://a.example/", ids: [12, 7]),
            OddLink.wide,
            OddLink.deep(when: "2025-11-20", on: true),
            OddLink.deepTop,
            OddLink.path(p: ["main", "start"]),
            OddLink.rest(),
            OddLink.rest(rest: ["part"]),
            OddLink.word,
        ]
    }
}

nonisolated extension EmptyLink: GeneratedLink {
    typealias Screen = EmptyScreen
    static var file: String { "Tests/GeneratedSwiftTests/Tables/empty.json" }
    static var samples: [EmptyLink] {
        [
        ]
    }
}

nonisolated extension HostileLink: GeneratedLink {
    typealias Screen = HostileScreen
    static var file: String { "Tests/GeneratedSwiftTests/Tables/hostile.json" }
    static var samples: [HostileLink] {
        [
            HostileLink.self2(self2: "self", type: HostileModels.Type3(rawValue: "self")!),
            HostileLink.self2(self2: "self",
                init2: 12,
                default: true,
                hashValue: 1.5,
                type: HostileModels.Type3(rawValue: "self")!,
                aB: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!,
                aB2: "2025-11-20",
                description: [UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!,
                UUID(uuidString: "80674450-AAEC-4704-9D0F-63C7B2068FF1")!],
                encode: "https://a.example/",
                modelName: [HostileModels.ModelName(rawValue: "\"")!,
                HostileModels.ModelName(rawValue: "\\#")!]),
            HostileLink.init2(fields: 42, captures2: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!),
            HostileLink.route2,
            HostileLink.link2(scheme: "scheme", host: "host", table: "table", default: "default"),
            HostileLink.table2(for: HostileModels.For(rawValue: "a b")!),
            HostileLink.values2(),
            HostileLink.values2(values: ["part"]),
            HostileLink.json2(json: ["part"]),
            HostileLink.rawValue2,
            HostileLink.`default`(),
            HostileLink.`default`(case: "case"),
            HostileLink.aB,
            HostileLink.aB2,
            HostileLink.value1,
            HostileLink.special,
            HostileLink.any(what: "what"),
            HostileLink.language(code: HostileModels.Code(rawValue: "en")!),
            HostileLink.language(code: HostileModels.Code(rawValue: "en")!, mark: "mark"),
            HostileLink.kind(texts: ["texts"], number: 9),
            HostileLink.wide(),
            HostileLink.wide(firstVeryLongNameOfAField: "first-very-long-name-of-a-field",
                secondVeryLongNameOfAField: "second-very-long-name-of-a-field",
                thirdVeryLongNameOfAField: "third-very-long-name-of-a-field",
                fourthVeryLongNameOfAField: [12,
                7]),
            HostileLink.path(path: ["default", "1"]),
            HostileLink.path(path: ["default",
                "1"],
                int: 12,
                id: UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!),
            HostileLink.exact(when: Date(fieldText: "2025-11-20T09:30:00Z")!,
                all: [Decimal(fieldText: "1.5")!,
                Decimal(fieldText: "1")!]),
            HostileLink.exact(when: Date(fieldText: "2025-11-20T09:30:00Z")!,
                factor: Decimal(fieldText: "42")!,
                times: [Date(fieldText: "2025-11-20T09:30:00Z")!,
                Date(fieldText: "2024-02-29T23:59:59.5Z")!],
                price: Decimal(fieldText: "1.5")!,
                all: [Decimal(fieldText: "1.5")!,
                Decimal(fieldText: "1")!]),
        ]
    }
}
