// The script inside SVG pictures: zoom, search, keyboard, and the state in the address. It touches only its own
// picture, so that several may stand on one page.
(function () {
    "use strict";
    var script = document.currentScript;
    var svg = script && script.ownerSVGElement ? script.ownerSVGElement : document.documentElement;
    while (svg.ownerSVGElement) svg = svg.ownerSVGElement;
    var frames = svg.querySelector("svg.frames");
    var setting = script ? script.dataset : {};
    var letter = parseFloat(setting.font) || 7;
    var fluid = setting.fluid === "1";
    var nameType = setting.name || "Function:";
    var total = parseFloat(frames.getAttribute("fg:total"));
    var part = function (name) { return svg.querySelector("." + name); };
    var details = part("details"), reset = part("reset"), search = part("search");
    var ignore = part("ignore-case"), matched = part("matched");
    var boxes = Array.prototype.map.call(frames.children, function (group) {
        var rect = group.querySelector("rect");
        var title = group.querySelector("title").textContent;
        return {
            group: group, rect: rect, text: group.querySelector("text"), title: title,
            name: title.replace(/ \([^(]*\)$/, ""),
            x: parseFloat(rect.getAttribute("fg:x")), w: parseFloat(rect.getAttribute("fg:w")),
            y: parseFloat(rect.getAttribute("y")), found: false
        };
    });
    var zoomed = null, expression = null, ignoreCase = false, focused = null, width = 0;
    var from = 0, to = total;
    // A box's place is known to ten digits, so equal edges may differ by a hair.
    var hair = total * 1e-9;
    // One picture may keep its state in the address of its page; several would overwrite each other.
    var ownsAddress = svg === document.documentElement;

    function label(box, share) {
        var room = Math.floor((share * width - 6) / letter);
        if (room < 3) return "";
        return box.name.length <= room ? box.name : box.name.slice(0, room - 2) + "..";
    }

    function draw() {
        var span = to - from;
        boxes.forEach(function (box) {
            var left = Math.max(box.x, from), right = Math.min(box.x + box.w, to);
            var shown = right - left > hair && right - left > span * 1e-5;
            box.group.classList.toggle("hidden", !shown);
            if (!shown) return;
            box.rect.setAttribute("x", 100 * (left - from) / span + "%");
            box.rect.setAttribute("width", 100 * (right - left) / span + "%");
            box.text.setAttribute("x", 100 * (left - from) / span + 100 * 3 / width + "%");
            box.text.textContent = label(box, (right - left) / span);
        });
    }

    function hideBelow() {
        if (!zoomed) return;
        var inverted = setting.inverted === "1";
        boxes.forEach(function (box) {
            var outer = inverted ? box.y < zoomed.y : box.y > zoomed.y;
            var holds = box.x <= zoomed.x + hair && box.x + box.w >= zoomed.x + zoomed.w - hair;
            box.group.classList.toggle("caller", outer && holds);
            if (outer && !holds) box.group.classList.add("hidden");
        });
    }

    function zoom(box) {
        zoomed = box && box.w < total - hair ? box : null;
        from = zoomed ? zoomed.x : 0;
        to = zoomed ? zoomed.x + zoomed.w : total;
        boxes.forEach(function (each) { each.group.classList.remove("caller"); });
        draw();
        hideBelow();
        reset.classList.toggle("hidden", !zoomed);
        showMatched();
        keep();
    }

    // Nested matches count once: only the outermost of each column adds up.
    function showMatched() {
        if (!expression) { matched.textContent = " "; return; }
        var found = boxes.filter(function (box) { return box.found && !box.group.classList.contains("hidden"); });
        found.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
        var sum = 0, end = -1;
        found.forEach(function (box) {
            var left = Math.max(box.x, from), right = Math.min(box.x + box.w, to);
            if (left >= end - hair) { sum += right - left; end = right; }
        });
        matched.textContent = "Matched: " + (100 * sum / (to - from)).toFixed(1) + "%";
    }

    function find(text) {
        expression = null;
        if (text) {
            try {
                expression = new RegExp(text, ignoreCase ? "i" : "");
            } catch (problem) {
                details.textContent = "Bad regular expression: " + problem.message;
            }
        }
        boxes.forEach(function (box) {
            box.found = expression !== null && expression.test(box.name);
            box.group.classList.toggle("found", box.found);
        });
        search.classList.toggle("on", expression !== null);
        search.textContent = expression ? "Reset Search" : "Search";
        showMatched();
        keep();
    }

    function ask() {
        if (expression) { find(""); return; }
        var text = window.prompt("Search for a regular expression, such as ^org/apache or shuffle", "");
        if (text) find(text);
    }

    function keep() {
        if (!ownsAddress || !window.history || !window.history.replaceState) return;
        var state = new URLSearchParams();
        if (zoomed) { state.set("x", zoomed.x); state.set("y", zoomed.y); }
        if (expression) state.set("s", expression.source);
        if (ignoreCase) state.set("i", "1");
        var text = state.toString();
        try {
            window.history.replaceState(null, "", window.location.pathname + (text ? "?" + text : ""));
        } catch (forbidden) {
            // Some pages may not change their address; the picture works without.
            ownsAddress = false;
        }
    }

    function restore() {
        if (!ownsAddress) return;
        var state = new URLSearchParams(window.location.search);
        var x = state.get("x"), y = state.get("y"), text = state.get("s");
        if (state.get("i") === "1") setCase(true);
        if (text) find(text);
        boxes.forEach(function (box) { if (String(box.x) === x && String(box.y) === y) zoom(box); });
    }

    function setCase(on) {
        ignoreCase = on;
        ignore.classList.toggle("on", on);
        if (expression) find(expression.source);
    }

    function show(box) { details.textContent = box ? nameType + " " + box.title : " "; }

    function focus(box) {
        if (focused) focused.group.classList.remove("focus");
        focused = box;
        if (box) box.group.classList.add("focus");
        show(box);
    }

    // The next visible box in a direction: callers, callees, or neighbours of the same level.
    function neighbour(key) {
        var height = parseFloat(boxes[0].rect.getAttribute("height")) + 1;
        var down = setting.inverted === "1" ? 1 : -1;
        var step = key === "ArrowUp" ? -height : key === "ArrowDown" ? height : 0;
        var visible = boxes.filter(function (box) { return !box.group.classList.contains("hidden"); });
        if (!focused) return visible[0];
        var middle = focused.x + hair;
        if (step !== 0) {
            var outward = step * down < 0;
            return visible.filter(function (box) {
                if (Math.abs(box.y - focused.y - step) > 0.5) return false;
                return outward ? box.x <= middle && box.x + box.w > middle
                               : box.x + box.w > focused.x + hair && box.x < focused.x + focused.w - hair;
            })[0];
        }
        var row = visible.filter(function (box) { return Math.abs(box.y - focused.y) < 0.5; });
        return row[row.indexOf(focused) + (key === "ArrowRight" ? 1 : -1)];
    }

    function onKey(event) {
        if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f")) {
            event.preventDefault();
            ask();
        } else if (event.ctrlKey && event.key === "i") {
            event.preventDefault();
            setCase(!ignoreCase);
        } else if (event.key === "Escape") {
            if (expression) find(""); else zoom(null);
        } else if (/^Arrow/.test(event.key)) {
            var next = neighbour(event.key);
            if (next) { event.preventDefault(); focus(next); }
        } else if (event.key === "Enter" && focused) {
            zoom(focused);
        }
    }

    function boxOf(target) {
        var group = target.closest ? target.closest(".frames > g") : null;
        return group ? boxes[Array.prototype.indexOf.call(frames.children, group)] : null;
    }

    function resize() {
        if (fluid) {
            svg.removeAttribute("viewBox");
            svg.setAttribute("width", "100%");
            width = Math.max(svg.getBoundingClientRect().width - 20, 50);
            frames.setAttribute("width", width);
        } else {
            width = parseFloat(frames.getAttribute("width"));
        }
        draw();
        hideBelow();
    }

    frames.addEventListener("click", function (event) { var box = boxOf(event.target); if (box) zoom(box); });
    frames.addEventListener("mouseover", function (event) { show(boxOf(event.target)); });
    frames.addEventListener("mouseout", function () { show(focused); });
    reset.addEventListener("click", function () { zoom(null); });
    search.addEventListener("click", ask);
    ignore.addEventListener("click", function () { setCase(!ignoreCase); });
    (ownsAddress ? window : svg).addEventListener("keydown", onKey);
    if (!ownsAddress) svg.setAttribute("tabindex", "0");
    window.addEventListener("resize", resize);
    resize();
    restore();
})();
