"""What is known by heart: the hand-drawn plans of the two cities and the words on their street
signs.
"""
