"""Two fictional cities: streets, roads, places."""
