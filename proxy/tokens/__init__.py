"""Counting tokens: the rank files of the encodings, where a long text may be cut, and the counters themselves.

Part of the measure stage, whose public face is `proxy.measure`; no other module imports from here.
"""
