"""What we do about rides: order them once, follow them to their end. No Flask."""
