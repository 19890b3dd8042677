"""The ride booking service, played by us: its own Flask app, database file and process."""
