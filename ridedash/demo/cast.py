"""The guests of the demo, named after birds, so that no real person's name is among them.

The story of the evening books for the first thirty in this order, so that each audience sees the
same names. A seed chooses among all of them for the rides with which a new demo starts.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class CastGuest:
    """A guest of the hotel: name, room, spoken language, and the place they mostly ask for."""

    name: str
    room: str
    language: str  # a code of wording/languages.py
    place: str  # a place of Port Meridian


CAST: Final = (
    CastGuest("Sparrow", "101", "en", "Meridian Airport"),
    CastGuest("Heron", "118", "de", "Museum of the Sea"),
    CastGuest("Swift", "124", "fr", "Opera on the Lode"),
    CastGuest("Wren", "207", "en", "Port Meridian Central Station"),
    CastGuest("Linnet", "209", "es", "Ferry Terminal"),
    CastGuest("Dipper", "212", "hi", "Central Library"),
    CastGuest("Avocet", "221", "ja", "Botanic Garden"),
    CastGuest("Lapwing", "226", "ar", "Harbour Market"),
    CastGuest("Siskin", "301", "en", "Conference Centre"),
    CastGuest("Plover", "305", "de", "Exhibition Halls"),
    CastGuest("Bunting", "308", "fr", "Gallery of Winds"),
    CastGuest("Redstart", "311", "en", "Lode Stadium"),
    CastGuest("Dunlin", "316", "zh_Hans", "Meridian General Hospital"),
    CastGuest("Goldcrest", "319", "es", "Eastgate Centre"),
    CastGuest("Curlew", "402", "hi", "Meridian Airport"),
    CastGuest("Nuthatch", "405", "en", "Windlass Theatre"),
    CastGuest("Fieldfare", "408", "ja", "Cruise Quay"),
    CastGuest("Kestrel", "412", "en", "Cathedral of the Two Tides"),
    CastGuest("Tern", "415", "ar", "Arcade of Lanterns"),
    CastGuest("Whinchat", "418", "de", "Coach Station"),
    CastGuest("Sandpiper", "421", "fr", "Marina"),
    CastGuest("Teal", "424", "en", "City Hall"),
    CastGuest("Godwit", "509", "es", "Opera on the Lode"),
    CastGuest("Pipit", "511", "zh_Hans", "Clock Museum"),
    CastGuest("Merlin", "514", "en", "University of the Meridian"),
    CastGuest("Osprey", "517", "hi", "Law Courts"),
    CastGuest("Shrike", "520", "en", "Larkfield Station"),
    CastGuest("Turnstone", "523", "ja", "Bell Tower"),
    CastGuest("Wagtail", "526", "de", "Customs House"),
    CastGuest("Oriole", "529", "fr", "Meridian Gardens"),
    CastGuest("Bittern", "602", "en", "Harbour Infirmary"),
    CastGuest("Crake", "605", "ar", "Westmead Mall"),
    CastGuest("Egret", "608", "es", "Regatta Pavilion"),
    CastGuest("Gannet", "611", "en", "Chart Row Station"),
    CastGuest("Knot", "614", "de", "Observatory"),
    CastGuest("Magpie", "617", "hi", "Conservatoire"),
    CastGuest("Petrel", "620", "fr", "Old Lighthouse"),
    CastGuest("Skylark", "623", "ja", "Hill Park"),
    CastGuest("Smew", "626", "zh_Hans", "Collegiate Station"),
    CastGuest("Twite", "629", "en", "School of Navigation"),
)
