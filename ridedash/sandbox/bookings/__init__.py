"""Creation of bookings, actions on them, their snapshots and bills."""
