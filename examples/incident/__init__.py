"""A replay of the incident that Caviardage was made for: see README.md beside this file."""
