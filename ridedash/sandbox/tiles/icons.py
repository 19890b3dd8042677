"""Round icons for the kinds of places, with their zooms and priorities."""

ICON_R = 72.0
"""The radius of an icon in tenths of a pixel."""

RANKING: dict[str, tuple[int, int]] = {
    "airport": (13, 0),
    "station": (14, 1),
    "hospital": (15, 2),
    "hotel": (15, 3),
    "university": (15, 4),
    "ferry": (15, 5),
    "park": (15, 6),
    "stadium": (15, 7),
    "landmark": (15, 8),
    "museum": (16, 9),
    "venue": (16, 10),
    "civic": (16, 11),
    "theatre": (16, 12),
    "shopping": (16, 13),
    "market": (16, 14),
    "beach": (15, 15),
    "bus": (16, 16),
}
"""The zoom from which a kind of place is shown, and its priority (0 is placed first)."""

_PILLARS = "M-34 32h68M-34-12h68l-34-22zM-20-8v32M0-8v32M20-8v32"

_GLYPHS = {
    "airport": "M0-40v76M-40 10l40-24 40 24M-16 36l16-10 16 10",
    "station": "M-24-34h48v46h-48zM-24-8h48M-14 14l-10 20M14 14l10 20",
    "bus": "M-28-28h56v46h-56zM-28-4h56M-16 20v12M16 20v12",
    "ferry": "M-36 8h72l-16 24h-40zM0 6v-40l26 30",
    "hospital": "M0-34v68M-34 0h68",
    "hotel": "M-36 24v-48M-36 8h72v16M-8 6v-16h26q18 0 18 16",
    "park": "M0 38v-24M-26 12h52l-26-50z",
    "beach": "M-36 22q18-16 36 0t36 0M-20 4a28 28 0 0 1 40-28z",
    "museum": _PILLARS,
    "civic": _PILLARS,
    "university": "M-40-8l40-20 40 20-40 20zM-22 6v20q22 14 44 0v-20",
    "theatre": "M-28-24h56v20q0 34-28 34t-28-34zM-12-8h2M12-8h2M-10 12h20",
    "stadium": "M-36 0a36 24 0 1 0 72 0a36 24 0 1 0-72 0M-16 0h32",
    "shopping": "M-28-12h56l-5 44h-46zM-14-12q0-24 14-24t14 24",
    "market": "M-32-10l8-20h48l8 20zM-26-6v36h52v-36",
    "landmark": "M0-36l10 26 28 2-22 18 8 27-24-15-24 15 8-27-22-18 28-2z",
    "venue": "M-30 30v-44l30-20 30 20v44zM-10 30v-24h20v24",
}


def icon(kind: str, x: float, y: float) -> str:
    """The SVG of an icon at a point in tenths of a pixel."""
    return (
        f'<g transform="translate({x:.0f} {y:.0f})"><circle class="ic" r="{ICON_R:.0f}"/>'
        f'<path class="gl" stroke-width="11" d="{_GLYPHS[kind]}"/></g>'
    )
