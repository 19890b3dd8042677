"""The database: connections, sessions, clock, migrations. Imports no table."""
