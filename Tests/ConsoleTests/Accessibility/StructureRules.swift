/// Rules about names, roles, headings, and landmarks of a page.
struct StructureRules {
    let tab: Tab

    /// Roles of controls, which need a name.
    private static let controls: Set = [
        "button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "switch", "tab",
        "menuitem", "spinbutton", "listbox", "treeitem", "DisclosureTriangle", "image", "img", "figure", "grid",
        "dialog", "alertdialog",
    ]
    /// Roles that can have the focus without a name, because their content says enough.
    private static let nameless: Set = ["RootWebArea", "main", "MenuListPopup", "option", "row", "listitem"]
    /// Roles that say nothing about a control.
    private static let meaningless: Set = ["generic", "none", "presentation", "", "StaticText", "paragraph"]

    /// Returns the violations, each as a line.
    func violations() throws -> [String] {
        let nodes = try tab.accessibilityNodes()
        // A modal dialog hides the rest of the page.
        if nodes.contains(where: { $0.role == "dialog" }) { return nodes.compactMap(Self.violation) + (try document()) }
        return nodes.compactMap(Self.violation) + Self.headings(nodes) + Self.landmarks(nodes) + (try document())
    }

    private static func violation(_ node: AccessibilityNode) -> String? {
        let name = node.name.filter { $0 != " " }
        if node.isFocusable, meaningless.contains(node.role) {
            return "an element that can have the focus has no role: \(node.role) “\(node.name)”"
        }
        if node.isFocusable || controls.contains(node.role), name.isEmpty, !nameless.contains(node.role),
            // A figure is named by its caption, if it has one.
            node.role != "figure"
        {
            return "a \(node.role) has no name"
        }
        return nil
    }

    private static func headings(_ nodes: [AccessibilityNode]) -> [String] {
        let headings = nodes.filter { $0.role == "heading" }
        var found: [String] = []
        if headings.count(where: { $0.level == 1 }) != 1 {
            found.append("there is not one heading of level 1: \(headings.map { "\($0.level ?? 0) \($0.name)" })")
        }
        var last = 0
        for heading in headings {
            let level = heading.level ?? 0
            if level > last + 1 { found.append("the heading “\(heading.name)” has level \(level) after \(last)") }
            if heading.name.isEmpty { found.append("a heading of level \(level) has no text") }
            last = level
        }
        return found
    }

    private static func landmarks(_ nodes: [AccessibilityNode]) -> [String] {
        var found: [String] = []
        for role in ["main", "banner"] where nodes.count(where: { $0.role == role }) != 1 {
            found.append("there is not one landmark `\(role)`")
        }
        if !nodes.contains(where: { $0.role == "navigation" }) { found.append("there is no landmark `navigation`") }
        for role in ["navigation", "region", "form", "search", "complementary"] {
            let names = nodes.filter { $0.role == role }.map(\.name)
            if names.count > 1, names.contains("") { found.append("a landmark `\(role)` has no name") }
            if Set(names).count < names.count { found.append("landmarks `\(role)` have the same name: \(names)") }
        }
        return found
    }

    /// Rules of the document as a whole.
    private func document() throws -> [String] {
        try tab.run(
            """
            const found = [];
            if (!document.documentElement.lang) found.push("the document has no language");
            if (!document.title.trim()) found.push("the document has no title");
            const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
            for (const id of new Set(ids)) {
                if (ids.filter(other => other === id).length > 1) found.push(`the id ${id} is used twice`);
            }
            for (const e of document.querySelectorAll("[tabindex]")) {
                if (e.tabIndex > 0) found.push(`${e.tagName} has tabindex ${e.tabIndex}`);
            }
            for (const name of ["aria-labelledby", "aria-controls", "aria-describedby", "for"]) {
                for (const e of document.querySelectorAll(`[${name}]`)) {
                    for (const id of e.getAttribute(name).split(/\\s+/)) {
                        if (!document.getElementById(id)) found.push(`${name} of ${e.tagName} names no element: ${id}`);
                    }
                }
            }
            for (const e of document.querySelectorAll("[aria-hidden=true]")) {
                const inside = [e, ...e.querySelectorAll("*")].find(o => o.tabIndex >= 0 && o.checkVisibility());
                if (inside) found.push(`hidden from assistive technology, but can have the focus: ${inside.tagName}`);
            }
            return found;
            """)
    }

    /// Returns what is wider than a page of 360 px.
    func overflow() throws -> [String] {
        try tab.resize(width: 360, height: 740)
        return try tab.run(
            """
            const width = document.documentElement.clientWidth;
            if (document.scrollingElement.scrollWidth <= width) return [];
            const wide = [...document.body.querySelectorAll("*")].filter(e => {
                const rect = e.getBoundingClientRect();
                return rect.width > 0 && rect.right > width + 1;
            });
            return [`the page is ${document.scrollingElement.scrollWidth} px wide`,
                ...wide.slice(0, 5).map(e => `${e.tagName}.${e.className.baseVal ?? e.className}`)];
            """)
    }

    /// Returns the elements that move although the user prefers that nothing does.
    func motion() throws -> [String] {
        try tab.run(
            """
            const long = text => text.split(",").some(t => parseFloat(t) * (t.trim().endsWith("ms") ? 1 : 1000) > 20);
            const found = document.getAnimations().filter(a => a.effect.getComputedTiming().duration > 20)
                .map(a => `an animation of ${a.effect.target?.tagName}`);
            for (const e of document.querySelectorAll("*")) {
                for (const part of [null, "::before", "::after"]) {
                    const style = getComputedStyle(e, part);
                    const name = `${e.tagName}.${e.className.baseVal ?? e.className}`;
                    const { animationName, transitionProperty } = style;
                    if (animationName !== "none" && long(style.animationDuration)) found.push(`${name} is animated`);
                    if (transitionProperty !== "none" && long(style.transitionDuration)) found.push(`${name} moves`);
                    if (style.scrollBehavior === "smooth") found.push(`${name} scrolls smoothly`);
                }
            }
            return [...new Set(found)].slice(0, 10);
            """)
    }
}
