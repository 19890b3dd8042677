"""The database: connections, sessions, clock, migrations. Knows no table."""
