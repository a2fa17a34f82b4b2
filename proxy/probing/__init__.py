"""Finding out what a deployment really serves: prompts of growing length, each with words to be found again.

A limit is what is served, not what is advertised, and only tasting tells. May import: measure, openai, the standard
library. Texts here are made up on the spot; nothing of a customer's is involved.
"""
