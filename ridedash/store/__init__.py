"""What we keep: people, offers, orders, rides, the record of who did what. No Flask, no HTTP."""
