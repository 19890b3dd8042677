"""The map by night in Firefox and in WebKit, whose pages are dark in these tests."""

from tests.engines import steps
from tests.engines.engine import Engine
from tests.running import Running

# the mean brightness (0 to 1) of the tiles as the engine draws them; null while there are none
BRIGHTNESS = """
const tiles = [...document.querySelectorAll("img.leaflet-tile-loaded")];
if (!tiles.length || document.querySelector("img.leaflet-tile:not(.leaflet-tile-loaded)"))
  return null;
const canvas = document.createElement("canvas");
canvas.width = canvas.height = 16 * tiles.length;
const pen = canvas.getContext("2d");
tiles.forEach((tile, at) => pen.drawImage(tile, 16 * at, 0, 16, 16));
const { data } = pen.getImageData(0, 0, 16 * tiles.length, 16);
let sum = 0;
for (let at = 0; at < data.length; at += 4) sum += data[at] + data[at + 1] + data[at + 2];
return String(sum / (data.length * 0.75 * 255));
"""


def test_the_map_is_dark_where_the_page_is(engine: Engine, desk: Running) -> None:
    assert engine.run("return matchMedia('(prefers-color-scheme: dark)').matches;")
    steps.sign_in(engine, desk)
    assert float(engine.until(BRIGHTNESS)) < 0.3
