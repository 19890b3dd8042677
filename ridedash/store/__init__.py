"""Storage: people, offers, orders, rides, the audit log. No Flask, no HTTP."""
