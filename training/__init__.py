"""Trains the name models that ship in `recognizers/trained/`, from corpora in a folder that the caller names.

One command, `python -m training --data FOLDER --language en`, fixed seeds, no network. The corpora stay outside the
repository; what comes out is one file of weights a language, and its model card. docs/models.md says where the public
originals come from.

Nothing in `proxy` or `recognizers` imports this package; it may import `recognizers`.
"""
