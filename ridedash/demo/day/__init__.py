"""The rides with which a new demo begins: what is planned, how it is ordered, and the progress."""
