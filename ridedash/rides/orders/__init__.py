"""An order from the press of Book to the service's answer."""
