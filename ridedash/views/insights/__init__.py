"""The insights for managers: the metrics of a period, beside those of the days before it."""
