"""Categories, rates, estimates and fare ids."""
