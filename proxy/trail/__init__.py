"""The audit trail as evidence: lines in a chain, the sinks that keep them, what examines them and sums them up.

The lines themselves are `proxy.audit`'s. A line that was sealed holds a number and a hash over itself and the line
before, so that none can be changed, dropped, swapped or put in between without the chain showing it.
"""
