"""What staff do to a ride: cancel, change the drop, give feedback."""
