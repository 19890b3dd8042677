"""The day with which a new demo begins: its plan, how it is ordered, and how far it is."""
