"""What the official SDKs can send and receive, read from their own types, and what the code does with each of it.

The types of the installed `openai` and `anthropic` packages are taken apart (`shapes`), every place where a string
can stand is listed with a body that has it (`places`), the code is asked what it does there (`asked`), and the answers
are compared with what was decided (`decisions.yaml`, `tables`). Nothing here lists a field by hand.
"""
