/// Rules about the focus: every control is reached with Tab, in the order of the page, out again, and is seen.
struct FocusRules {
    let tab: Tab

    /// The maximum number of controls that are visited.
    private static let maxControls = 250
    /// The maximum number of controls whose focus is looked at.
    ///
    /// Controls of the same kind look the same.
    static let maxLooks = 10

    /// A script with the controls that Tab must reach.
    private static let controls = """
        const groups = new Set();
        // A modal dialog keeps the focus until it is closed.
        const scope = document.querySelector("dialog:modal") ?? document;
        const controls = [...scope.querySelectorAll(
            "a[href], button, input, select, textarea, summary, [tabindex]")].filter(e => {
            if (e.tabIndex < 0 || e.disabled || e.closest("[inert], :disabled") || !e.checkVisibility()) return false;
            if (getComputedStyle(e).visibility !== "visible") return false;
            if (e.type !== "radio" || !e.name) return true;
            const group = [...document.querySelectorAll(`input[type=radio][name="${CSS.escape(e.name)}"]`)];
            if (group.some(o => o.checked) ? !e.checked : groups.has(e.name)) return false;
            groups.add(e.name);
            return true;
        });
        const kind = e => `${e.tagName}.${e.className} in ${e.parentElement?.className}`;
        const name = e => `${e.tagName.toLowerCase()}.${[...e.classList].join(".")} “`
            + `${(e.ariaLabel ?? e.innerText ?? "").replace(/\\s+/g, " ").slice(0, 30)}”`;
        """

    /// Presses Tab through the whole page and back, and returns the violations, each as a line.
    func order() throws -> [String] {
        let count: Int = try tab.run(
            """
            \(Self.controls)
            window.visited = [];
            window.kinds = new WeakMap();
            window.recordFocus = event => {
                visited.push(event.target);
                kinds.set(event.target, kind(event.target));
            };
            document.addEventListener("focusin", recordFocus, true);
            controls[0]?.focus();
            return controls.length;
            """)
        guard count > 0 else { return ["the page has no control"] }
        guard count <= Self.maxControls else { return ["the page has \(count) controls in the order of Tab"] }
        // A few more, for parts that scroll, and so that the focus leaves the page and comes back.
        try tab.press(.tab, times: count + 8)
        let forward = try visited("forward", isForward: true)
        try tab.press(.tab, holding: [.shift], times: count + 8)
        let backward = try visited("backward", isForward: false)
        let _: JSON = try tab.run("document.removeEventListener('focusin', recordFocus, true)")
        return forward + backward
    }

    /// Returns the violations of what was visited since the last call.
    private func visited(_ direction: String, isForward: Bool) throws -> [String] {
        try tab.run(
            """
            \(Self.controls)
            const [direction, isForward] = arguments;
            const found = [];
            for (const e of controls) {
                // Backward, what the focus of a later control shows can be absent, but the way leads to the first.
                if (!isForward && e !== controls[0]) continue;
                // An element can be drawn again while the focus moves. The old one has lost its parent then.
                const isReached = visited.some(o => o === e || (!o.isConnected && kinds.get(o) === kind(e)));
                if (!isReached) found.push(`${direction}: Tab does not reach ${name(e)}`);
            }
            if (controls.length > 2 && visited.slice(-3).every(e => e === visited.at(-1))) {
                found.push(`${direction}: the focus stays in ${name(visited.at(-1))}`);
            }
            const once = visited.filter((e, index) => e.isConnected && visited.indexOf(e) === index);
            const rect = e => {
                const own = e.getBoundingClientRect();
                return own.width > 2 ? own : (e.labels?.[0] ?? e.parentElement).getBoundingClientRect();
            };
            for (let index = 1; isForward && index < once.length; index += 1) {
                const [a, b] = [once[index - 1], once[index]];
                if (!(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING)) {
                    if (index > 1 && b !== once[0]) found.push(`${name(b)} comes after ${name(a)}, but is before it`);
                    continue;
                }
                const [from, to] = [rect(a), rect(b)];
                if (a.classList.contains("skip") || a.contains(b)) continue;
                if (to.bottom <= from.top + 1 && to.left < from.right && to.right > from.left - 400) {
                    found.push(`${name(b)} comes after ${name(a)}, but is above it`);
                }
            }
            window.visited = [document.activeElement];
            return [...new Set(found)];
            """, [.text(direction), .bool(isForward)])
    }

    /// A control whose focus is looked at.
    private struct Look: Decodable {
        var name: String
        var area: Area
    }

    /// Focuses a control of each kind, and returns those that look the same with and without the focus.
    func visibility(limit: Int = Self.maxLooks) throws -> [String] {
        // After a key, browsers show the focus also where a script sets it.
        try tab.press(.tab)
        let count: Int = try tab.run(
            """
            \(Self.controls)
            window.lookKind = e => `${e.tagName}.${e.className}.${e.type}`;
            window.looks = [...new Set(controls.map(lookKind))].slice(0, \(limit));
            return looks.length;
            """)
        var found: [String] = []
        for index in 0..<count {
            let look: Look? = try tab.run(
                """
                \(Self.controls)
                // A list that is drawn again has other elements, so each is searched when it is looked at.
                const e = window.looked = controls.find(e => lookKind(e) === looks[arguments[0]]);
                if (!e) return null;
                e.focus({ preventScroll: false });
                e.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
                let rect = e.getBoundingClientRect();
                if (rect.width < 2) rect = (e.labels?.[0] ?? e.parentElement).getBoundingClientRect();
                return { name: name(e), area: { x: rect.left + scrollX - 6, y: rect.top + scrollY - 6,
                    width: rect.width + 12, height: rect.height + 12 } };
                """, [.number(Double(index))])
            guard let look else { continue }
            try settle()
            let focused = try tab.picture(of: look.area)
            let _: JSON = try tab.run("document.activeElement.blur()")
            try settle()
            let isSeen: Bool = try tab.runAsync(Self.compare, [.text(focused), .text(try tab.picture(of: look.area))])
            if !isSeen { found.append("the focus of \(look.name) is not visible") }
            // The focus returns by a script, which counts as one by the keyboard.
            let _: JSON = try tab.run("looked.focus()")
        }
        return found
    }

    private func settle() throws {
        let _: Bool = try tab.runAsync(
            "await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))); return true")
    }

    /// The script that counts the pixels with another color, as many as a line of one pixel at two sides has.
    private static let compare = """
        \(ContrastRule.luminance)
        async function pixels(text) {
            const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
            const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
            context.drawImage(bitmap, 0, 0);
            const data = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
            return { width: bitmap.width, height: bitmap.height, data: new Uint32Array(data.buffer) };
        }
        const [one, other] = [await pixels(arguments[0]), await pixels(arguments[1])];
        let changed = 0;
        one.data.forEach((pixel, index) => { if (ratio(pixel, other.data[index]) >= 3) changed += 1; });
        return changed >= Math.min(one.width, one.height);
        """
}
