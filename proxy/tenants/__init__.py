"""Tenants: who has a key, and what holds for it.

    model   what stands in a tenants file
    load    the file, read as strictly as a policy
    keys    a new key, its hash, and whose key one is

May import: policy, settings (what a base URL is), the standard library, pydantic.
"""
