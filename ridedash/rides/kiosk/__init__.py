"""An order at a kiosk: its limits, approvals, codes and tickets, and whether a kiosk is open."""
