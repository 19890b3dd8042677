"""Two fictional cities with their streets, routes and places."""
