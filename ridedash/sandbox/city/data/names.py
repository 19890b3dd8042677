"""Words for street names by theme, one theme for each district. No person's name is among them."""

import itertools
import zlib
from collections.abc import Iterator

_WORDS = {
    "trees": (
        "Alder Aspen Beech Birch Cedar Chestnut Cypress Elder Elm Fir Hawthorn Hazel Holly "
        "Hornbeam Juniper Larch "
        "Laurel Linden Maple Mulberry Myrtle Oak Olive Pine Poplar Rowan Sorrel Spruce Sycamore "
        "Tamarisk Walnut Willow "
        "Yew"
    ),
    "ships": (
        "Anchor Ballast Barque Binnacle Bowsprit Brig Bulwark Buoy Cable Capstan Caravel Clipper "
        "Cutter Fathom "
        "Flagstaff Foremast Galleon Halyard Hawser Jib Keel Ketch Lanyard Lighter Lugger Mainsail "
        "Mooring Oar Pinnace "
        "Rigging Rudder Schooner Spar Tiller Windlass"
    ),
    "stars": (
        "Aldebaran Altair Antares Aquila Arcturus Auriga Bellatrix Canopus Capella Carina Castor "
        "Corona Deneb Eridanus "
        "Fomalhaut Hydra Lyra Meridian Mira Orion Pleiades Polaris Pollux Procyon Regulus Rigel "
        "Sirius Spica Vega "
        "Vela"
    ),
    "birds": (
        "Avocet Bittern Bunting Cormorant Crane Curlew Dotterel Dunlin Egret Falcon Fulmar Gannet "
        "Godwit Goldfinch "
        "Grebe Heron Kestrel Kingfisher Kittiwake Lapwing Linnet Martin Merlin Nightjar Osprey "
        "Petrel Pipit Plover "
        "Redshank Sandpiper Shearwater Skylark Starling Swift Teal Tern Turnstone Wagtail Whimbrel "
        "Wren"
    ),
    "crafts": (
        "Baker Bellfounder Brewer Candle Caulker Chandler Cooper Cordwainer Currier Dyer Farrier "
        "Fletcher Glazier "
        "Glover Goldbeater Hatter Joiner Lantern Loom Mason Miller Needle Paper Pewter Potter "
        "Ropewalk Saddler "
        "Sailmaker Salter Smith Spindle Tanner Thatcher Tinker Turner Weaver Wheelwright"
    ),
    "stones": (
        "Agate Alabaster Amber Amethyst Basalt Beryl Chalk Coral Crystal Flint Garnet Granite "
        "Jasper Jet Limestone "
        "Marble Moonstone Obsidian Onyx Opal Pearl Pebble Porphyry Quartz Sandstone Sapphire Shale "
        "Slate Topaz "
        "Travertine Turquoise"
    ),
    "flowers": (
        "Aster Bluebell Bramble Broom Camellia Campion Celandine Clover Columbine Cornflower Daisy "
        "Fern Foxglove "
        "Fuchsia Gentian Gorse Harebell Heather Honeysuckle Hyacinth Iris Jasmine Lavender Lilac "
        "Lupin Magnolia "
        "Marigold Meadowsweet Peony Periwinkle Primrose Rose Saffron Snowdrop Thistle Thrift Tulip "
        "Verbena Violet "
        "Yarrow"
    ),
    "weather": (
        "Aurora Breeze Calm Cirrus Cloud Cumulus Dawn Daybreak Dew Doldrum Drizzle Dusk Eastwind "
        "Evening Frost Gale "
        "Halo Harvest Midsummer Mistral Monsoon Moonrise Morning Nimbus Northwind Rainbow Sirocco "
        "Solstice Southwind "
        "Squall Sunrise Sunset Tempest Thaw Tradewind Twilight Westwind Zephyr"
    ),
    "tools": (
        "Almanac Alidade Astrolabe Azimuth Barometer Beacon Bearing Cartographer Chart Chronometer "
        "Compass Cordon "
        "Dial Equator Gnomon Horizon Hourglass Latitude Leadline Lens Logbook Longitude Octant "
        "Parallax Parallel "
        "Pilot Plumb Quadrant Sextant Signal Sounding Spyglass Station Sundial Telegraph "
        "Theodolite Tropic Vernier "
        "Waypoint Zenith"
    ),
    "farm": (
        "Acre Apple Barley Barn Brook Bullrush Burrow Cherry Cider Coppice Cowslip Croft Dairy "
        "Dovecote Drover Fallow "
        "Furlong Furrow Gander Granary Hayrick Hedgerow Hive Hollow Hurdle Kiln Meadow Millstone "
        "Oast Orchard Paddock "
        "Pasture Plough Quince Sheaf Shepherd Sluice Spring Stile Tithe Watermill Wheat Woodland"
    ),
    "old": (
        "Abbey Almshouse Arcade Archway Assembly Bellgate Bishop Bridgegate Broadgate Candlemas "
        "Castle Chancery Chapel "
        "Charter Cloister College Corn Cross Crown Custom Exchange Fair Fish Fountain Gallows "
        "Guild Herald "
        "High Kirk Lamb Library Mercer Minster Mint Narrow Pilgrim Prior Queen Saltgate Scholar "
        "Silver Spice Stone "
        "Temple Tower Watergate Wool"
    ),
    "sea": (
        "Abalone Anemone Barnacle Bayside Breaker Cockle Conch Cove Current Dolphin Driftwood Dune "
        "Ebbtide Estuary "
        "Foam Grotto Gull Haven Kelp Lagoon Landfall Limpet Mussel Nautilus Oyster Pelican Periwig "
        "Porpoise Reef "
        "Sandbar Scallop Seal Seaspray Shingle Shoal Skerry Spindrift Starfish Strand Surf Tideway "
        "Urchin Whelk"
    ),
    "colours": (
        "Amaranth Azure Bronze Carmine Cerulean Cobalt Copper Crimson Ebony Emerald Fawn Gilt "
        "Hazelwood Heliotrope "
        "Indigo Ivory Lemon Madder Malachite Mauve Ochre Orange Russet Scarlet Sepia Sienna Teasel "
        "Umber Vermilion "
        "Viridian"
    ),
}

THEMES = {theme: tuple(words.split()) for theme, words in _WORDS.items()}

STREET_TYPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "old": (("Street", "Lane", "Row", "Court"), ("Lane", "Passage", "Yard", "Street")),
    "ships": (("Street", "Quay Road", "Wharf"), ("Lane", "Alley", "Steps Lane")),
    "sea": (("Road", "Parade", "Terrace"), ("Walk", "Close", "Lane")),
    "farm": (("Road", "Drive", "Way"), ("Lane", "Close", "End")),
    "crafts": (("Street", "Row", "Yard"), ("Lane", "Street", "Court")),
    "trees": (("Avenue", "Road", "Drive"), ("Grove", "Road", "Close")),
    "flowers": (("Gardens", "Road", "Crescent"), ("Walk", "Way", "Mews")),
}
"""What follows the word in names of streets along a district, and of streets across it.

A later one is used when each word of the theme has a street with the earlier ones.
"""

COMMON_TYPES = (("Street", "Road", "Avenue"), ("Street", "Place", "Way"))


PREFIXES = ("", "Upper ", "Little ", "New ", "Old ", "Far ", "Lower ", "Great ")


class Signs:
    """Generates street names of a theme without repetition."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)
        self._free: dict[tuple[str, int], Iterator[str]] = {}

    def name(self, theme: str, direction: int) -> str:
        """The next free name; `direction` 0 for streets along a district, 1 for those across."""
        free = self._free.setdefault((theme, direction), _names(theme, direction))
        name = next(name for name in free if name not in self.taken)
        self.taken.add(name)
        return name


def _names(theme: str, direction: int) -> Iterator[str]:
    words, types = THEMES[theme], STREET_TYPES.get(theme, COMMON_TYPES)[direction]
    shuffled = sorted(words, key=lambda word: zlib.crc32(f"{word}{direction}".encode()))
    for prefix, kind, word in itertools.product(PREFIXES, types, shuffled):
        yield f"{prefix}{word} {kind}"
