"""The style of the map: light and dark colours, and stroke widths in pixels by zoom."""

STREETS: dict[int, tuple[float, float, float, float]] = {
    11: (1.7, 1.0, 0.0, 0.0),
    12: (2.6, 1.8, 0.9, 0.0),
    13: (3.6, 2.8, 1.7, 0.8),
    14: (5.0, 4.2, 3.0, 1.7),
    15: (7.5, 6.4, 4.8, 3.4),
    16: (12.0, 10.5, 8.5, 6.6),
    17: (19.0, 17.0, 14.0, 11.0),
    18: (31.0, 28.0, 23.0, 18.0),
}
"""Street widths by zoom: trunk, main, connecting, local. Streets of width 0 are not drawn."""

CASING = {11: 0.0, 12: 0.9, 13: 1.0, 14: 1.3, 15: 1.5, 16: 1.6, 17: 1.8, 18: 2.0}
"""What the casing adds to the street width, both sides together."""

# The colours, by the classes of a tile's elements. blk: blocks; bld: buildings, with outlines bls;
# run: runways; c0 to c3 and f0 to f3: casings and fills of streets by rank; tie: sleepers of
# railways; st, pl, di, gr, wa: names of streets, places, districts, grounds and waters; ic: discs
# of icons, with glyphs icw.
_LIGHT = {
    "sea": "#c9dbe5",
    "shore": "#dde8ec",
    "land": "#f3f0e9",
    "heath": "#e9ebdb",
    "blk": "#ede8df",
    "bld": "#ddd5c7",
    "bls": "#cfc5b4",
    "park": "#d3e3c6",
    "forest": "#c6dab9",
    "golf": "#d9e8c9",
    "cemetery": "#d5dfca",
    "green": "#e0e8d3",
    "beach": "#f4e9cb",
    "campus": "#ebe5ee",
    "hospital": "#f3e2de",
    "industrial": "#e5e2e2",
    "airport": "#e6e6ec",
    "school": "#ebe5ee",
    "stadium": "#d9e3cf",
    "square": "#f5efe0",
    "station": "#e4e0e0",
    "run": "#cdced8",
    "c0": "#d3b47f",
    "c1": "#dcc99f",
    "c2": "#d5ccbd",
    "c3": "#dfd8cb",
    "f0": "#f6dfb2",
    "f1": "#fcf1d6",
    "f2": "#ffffff",
    "f3": "#ffffff",
    "rail": "#b3aeb0",
    "tie": "#f3f0e9",
    "st": "#6e675c",
    "pl": "#474654",
    "di": "#857d90",
    "gr": "#54764a",
    "wa": "#5d8aa5",
    "ic": "#6f7890",
    "icw": "#ffffff",
    "halo": "#fbf9f5",
}

_DARK = {
    "sea": "#0d1822",
    "shore": "#111f2b",
    "land": "#181d24",
    "heath": "#171f20",
    "blk": "#1c222a",
    "bld": "#232a34",
    "bls": "#2c3541",
    "park": "#182a21",
    "forest": "#16271e",
    "golf": "#1a2c22",
    "cemetery": "#1b2822",
    "green": "#19241f",
    "beach": "#2a2820",
    "campus": "#211f2b",
    "hospital": "#2b2023",
    "industrial": "#1f2127",
    "airport": "#1e222b",
    "school": "#211f2b",
    "stadium": "#1b2a22",
    "square": "#23272e",
    "station": "#23242b",
    "run": "#333a47",
    "c0": "#12161c",
    "c1": "#12161c",
    "c2": "#12161c",
    "c3": "#14191f",
    "f0": "#5a5140",
    "f1": "#434750",
    "f2": "#373e49",
    "f3": "#2d343e",
    "rail": "#4a505b",
    "tie": "#181d24",
    "st": "#98a1ae",
    "pl": "#bac2cf",
    "di": "#7c8698",
    "gr": "#7fa383",
    "wa": "#5f87a3",
    "ic": "#6c7890",
    "icw": "#11161d",
    "halo": "#141a21",
}

GROUND_KINDS = (
    "green",
    "forest",
    "beach",
    "airport",
    "industrial",
    "golf",
    "park",
    "cemetery",
    "campus",
    "hospital",
    "school",
    "stadium",
    "square",
    "station",
)
"""The kinds of sites in the order in which they are painted."""

_FILLS = ("sea", "land", "heath", "blk", *GROUND_KINDS)
_TEXT = {"st": 500, "pl": 600, "di": 600, "gr": 500, "wa": 500}


def css(zoom: int, *, dark: bool = False) -> str:
    """The style sheet of a tile at a zoom, light or dark.

    Lengths are tenths of a pixel, as everywhere in a tile. The page chooses between light and dark
    by the tile's address: WebKit ignores `prefers-color-scheme` inside an image.
    """
    return _shapes(zoom) + _colours(_DARK if dark else _LIGHT)


def _shapes(zoom: int) -> str:
    rules = ["path,use{fill:none;stroke-linecap:round;stroke-linejoin:round}"]
    for rank, width in enumerate(STREETS[zoom]):
        if width:
            casing = (width + CASING[zoom]) * 10
            rules.append(
                f".c{rank}{{stroke-width:{casing:.0f}}}.f{rank}{{stroke-width:{width * 10:.0f}}}"
            )
    rail = 10 if zoom < 14 else 10 * min(5.0, 1.6 * 1.45 ** (zoom - 14))
    rules.append(
        f".rail{{stroke-width:{rail:.0f};stroke-linecap:butt}}.tie{{stroke-width:{rail * 0.5:.0f};"
    )
    rules.append(
        f"stroke-linecap:butt;stroke-dasharray:{rail * 3:.0f}}}"
        f".shore{{stroke-width:{60 + 10 * zoom}}}"
    )
    rules.append(
        f".mark{{stroke-linecap:butt;stroke-width:{rail * 0.5:.0f};"
        f"stroke-dasharray:{rail * 5:.0f}}}"
    )
    rules.append(".bld,.hall{stroke-width:6}.cap{stroke-linecap:butt}.run{stroke-linecap:butt}")
    rules.append(
        "text{font-family:'Helvetica Neue',Helvetica,Arial,'Liberation Sans',"
        "'DejaVu Sans',sans-serif;text-anchor:middle;paint-order:stroke;stroke-width:28;"
        "stroke-linejoin:round}.wa,.gr{font-style:italic}"
    )
    rules.extend(f".{name}{{font-weight:{weight}}}" for name, weight in _TEXT.items())
    return "".join(rules) + ".di{letter-spacing:12px}"


def _colours(palette: dict[str, str]) -> str:
    rules = [f".{name}{{fill:{palette[name]}}}" for name in _FILLS]
    rules += [f".{n}{r}{{stroke:{palette[f'{n}{r}']}}}" for n in "cf" for r in range(4)]
    rules += [f".{name}{{stroke:{palette[name]}}}" for name in ("rail", "tie", "run", "shore")]
    rules += [f".{name}{{fill:{palette[name]};stroke:{palette['halo']}}}" for name in _TEXT]
    rules.append(
        f".hall{{fill:{palette['bls']};stroke:{palette['c3']}}}.mark{{stroke:{palette['tie']}}}"
    )
    rules.append(f".bld{{fill:{palette['bld']};stroke:{palette['bls']}}}")
    rules.append(f".ic{{fill:{palette['ic']};stroke:{palette['halo']};stroke-width:12}}")
    rules.append(f".gl{{stroke:{palette['icw']}}}")
    return "".join(rules)
