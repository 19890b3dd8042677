"""The guest's kiosk and the display at the door: paired devices, which no one signs in to."""
