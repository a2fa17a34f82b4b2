"""Caviardage: a redaction proxy in front of hosted LLM APIs.

The words this package uses, each with one meaning:

leaf          one piece of text inside a request or an answer, with its JSON path
entity        a type of personal or confidential data (`PERSON`, `IBAN_CODE`, ...)
span          `[start, end)` in code points of a leaf, with an entity and a score between 0 and 1
finding       a span that the policy acts on, overlaps resolved
placeholder   `<TYPE_NNNNNN>`, what stands for a value on the wire
vault         one conversation's two-way map value <-> placeholder; an object passed by argument
policy        what the security team wrote in YAML; frozen at run time, one snapshot a request
served limit  tokens that the deployment really holds; the advertised limit is what the provider says
verdict       forward, refuse, or (for an answer) release, block

The path of a request, each stage a module that does not know the others; `pipeline` tells the story:

    ingress -> measure -> detect -> substitute -> measure -> forward -> verify -> restore -> audit
"""
