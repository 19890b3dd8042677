"""Tables, without queries."""
