"""A trip as a timeline: planner, fleet, drivers, ledger."""
