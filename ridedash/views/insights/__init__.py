"""The manager's month: what the rides of some weeks add up to, beside the weeks before."""
