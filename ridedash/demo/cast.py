"""The guests of the demo, named after birds, so that no real person's name is among them.

Stories use them in this order, so that each audience sees the same names.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Guest:
    """A guest of the hotel: name, room, spoken language, and the place they mostly ask for."""

    name: str
    room: str
    language: str  # a code of wording/languages.py
    place: str  # a place of Port Meridian


CAST: Final = (
    Guest("Sparrow", "101", "en", "Meridian Airport"),
    Guest("Heron", "118", "de", "Museum of the Sea"),
    Guest("Swift", "124", "fr", "Opera on the Lode"),
    Guest("Wren", "207", "en", "Port Meridian Central Station"),
    Guest("Linnet", "209", "es", "Ferry Terminal"),
    Guest("Dipper", "212", "hi", "Central Library"),
    Guest("Avocet", "221", "ja", "Botanic Garden"),
    Guest("Lapwing", "226", "ar", "Harbour Market"),
    Guest("Siskin", "301", "en", "Conference Centre"),
    Guest("Plover", "305", "de", "Exhibition Halls"),
    Guest("Bunting", "308", "fr", "Gallery of Winds"),
    Guest("Redstart", "311", "en", "Lode Stadium"),
    Guest("Dunlin", "316", "zh_Hans", "Meridian General Hospital"),
    Guest("Goldcrest", "319", "es", "Eastgate Centre"),
    Guest("Curlew", "402", "hi", "Meridian Airport"),
    Guest("Nuthatch", "405", "en", "Windlass Theatre"),
    Guest("Fieldfare", "408", "ja", "Cruise Quay"),
    Guest("Kestrel", "412", "en", "Cathedral of the Two Tides"),
    Guest("Tern", "415", "ar", "Arcade of Lanterns"),
    Guest("Whinchat", "418", "de", "Coach Station"),
    Guest("Sandpiper", "421", "fr", "Marina"),
    Guest("Teal", "424", "en", "City Hall"),
    Guest("Godwit", "509", "es", "Opera on the Lode"),
    Guest("Pipit", "511", "zh_Hans", "Clock Museum"),
    Guest("Merlin", "514", "en", "University of the Meridian"),
    Guest("Osprey", "517", "hi", "Law Courts"),
    Guest("Shrike", "520", "en", "Larkfield Station"),
    Guest("Turnstone", "523", "ja", "Bell Tower"),
    Guest("Wagtail", "526", "de", "Customs House"),
    Guest("Oriole", "529", "fr", "Meridian Gardens"),
    Guest("Bittern", "602", "en", "Harbour Infirmary"),
    Guest("Crake", "605", "ar", "Westmead Mall"),
    Guest("Egret", "608", "es", "Regatta Pavilion"),
    Guest("Gannet", "611", "en", "Chart Row Station"),
    Guest("Knot", "614", "de", "Observatory"),
    Guest("Magpie", "617", "hi", "Conservatoire"),
    Guest("Petrel", "620", "fr", "Old Lighthouse"),
    Guest("Skylark", "623", "ja", "Hill Park"),
    Guest("Smew", "626", "zh_Hans", "Collegiate Station"),
    Guest("Twite", "629", "en", "School of Navigation"),
)
