/// The contrast of text, computed from the pixels of a picture (WCAG 2.2, success criterion 1.4.3).
///
/// The picture has two device pixels for each CSS pixel, so that the strokes of letters have pixels in their full
/// color. The background is the most frequent color around the letters. The color of the text is the one with the
/// highest contrast among the colors that are frequent enough.
struct ContrastRule {
    let tab: Tab

    /// Returns the texts with too little contrast, each as a line.
    func violations(width: Int = 1280) throws -> [String] {
        try tab.resize(width: width, height: 900)
        let height: Int = try tab.run("return Math.min(3000, document.scrollingElement.scrollHeight)")
        try tab.resize(width: width, height: max(height, 900), scale: 2)
        let _: Bool = try tab.runAsync(
            "scrollTo(0, 0); await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))); return true"
        )
        let found: [String] = try tab.runAsync(Self.script, [.text(try tab.picture()), 2])
        try tab.resize(width: 1440, height: 900)
        return found
    }

    private static let script = """
        const [picture, scale] = arguments;
        const bytes = Uint8Array.from(atob(picture), c => c.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(bitmap, 0, 0);
        \(luminance)
        // The color of the text, and its background, in a rectangle.
        function colors(rect) {
            const x = Math.max(0, Math.floor(rect.left * scale)), y = Math.max(0, Math.floor(rect.top * scale));
            const width = Math.min(bitmap.width, Math.ceil(rect.right * scale)) - x;
            const height = Math.min(bitmap.height, Math.ceil(rect.bottom * scale)) - y;
            if (width < 4 || height < 8) return null;
            const pixels = new Uint32Array(context.getImageData(x, y, width, height).data.buffer);
            const counts = new Map();
            for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
            const background = [...counts].reduce((a, b) => b[1] > a[1] ? b : a);
            const rest = [...counts].filter(([color]) => ratio(color, background[0]) > 1.1);
            const total = rest.reduce((sum, [, count]) => sum + count, 0);
            if (total < 4) return null;
            const frequent = rest.filter(([, count]) => count >= Math.max(2, total * 0.03));
            const best = frequent.map(([color]) => [color, ratio(color, background[0])])
                .reduce((a, b) => b[1] > a[1] ? b : a, [background[0], 1]);
            return { text: hex(best[0]), background: hex(background[0]), ratio: best[1] };
        }
        // A way through the map dims the rest on purpose, with the class `off`.
        function isExempt(e) {
            return e.closest(".off") || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true })
                || e.closest(":disabled, [aria-disabled=true], [aria-hidden=true], option, script, style, noscript");
        }
        const found = [];
        function check(e, text, rects) {
            const style = getComputedStyle(e);
            const size = parseFloat(style.fontSize);
            const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
            for (const rect of rects) {
                const x = rect.left + rect.width / 2, y = rect.top + rect.height / 2;
                if (rect.width < 3 || rect.height < 6 || x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue;
                const top = document.elementFromPoint(x, y);
                if (!top || !(e.contains(top) || top.contains(e))) continue;
                const result = colors(rect);
                if (!result || result.ratio >= needed) continue;
                const name = `${e.tagName.toLowerCase()}.${e.className.baseVal ?? e.className}`;
                found.push(`${result.ratio.toFixed(2)} of ${needed}: “${text.slice(0, 40)}” in ${name}, `
                    + `${result.text} on ${result.background}, ${size} px`);
                return;
            }
        }
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, e = node.parentElement;
            if (!node.data.trim() || isExempt(e)) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            check(e, node.data.trim(), [...range.getClientRects()].slice(0, 3));
        }
        for (const e of document.querySelectorAll("input, textarea, select")) {
            const text = e.type === "checkbox" || e.type === "radio" ? "" : e.value || e.placeholder;
            if (!text || isExempt(e)) continue;
            const rect = e.getBoundingClientRect(), style = getComputedStyle(e);
            const inset = Math.max(3, parseFloat(style.borderTopWidth) + 2);
            check(e, text, [{ left: rect.left + inset, right: rect.right - inset, top: rect.top + inset,
                bottom: rect.bottom - inset, width: rect.width - 2 * inset, height: rect.height - 2 * inset }]);
        }
        return found;
        """

    /// Functions of scripts about colors, which are pixels of a canvas.
    static let luminance = """
        function channel(value) {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
        }
        function luminance(pixel) {
            return 0.2126 * channel(pixel & 255) + 0.7152 * channel(pixel >> 8 & 255)
                + 0.0722 * channel(pixel >> 16 & 255);
        }
        function ratio(one, other) {
            const [a, b] = [luminance(one), luminance(other)];
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        }
        function hex(pixel) {
            return "#" + [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255]
                .map(part => part.toString(16).padStart(2, "0")).join("");
        }
        """
}
