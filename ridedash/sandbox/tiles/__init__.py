"""How a plan becomes a city: geometry, street graph, blocks, labels and the drawing of tiles."""
