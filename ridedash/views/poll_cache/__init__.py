"""Answers to polls that changed nothing, sent before Flask.

Decides nothing; can be switched off.
"""
