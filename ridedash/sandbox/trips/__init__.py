"""A trip as a timeline: planner, fleet, crews, ledger."""
