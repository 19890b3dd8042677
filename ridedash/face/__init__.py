"""What a property looks like to its guests: one colour and a logo. Pure."""
