"""Map tiles as SVG: what is drawn of a city, its buildings and labels, and the tile server."""
