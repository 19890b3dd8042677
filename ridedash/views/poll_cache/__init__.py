"""Answers to polls that changed nothing, sent before Flask; can be switched off."""
