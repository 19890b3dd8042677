"""The booking form: places, products, prices, groups of cars."""
