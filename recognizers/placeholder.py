"""Values that stand for a value: `${PASSWORD}`, `<token>`, `***`, `your-api-key`, `string`.

May import: the standard library.
"""

from __future__ import annotations

import re

_WRAPPED = re.compile(r"[\[{(<#]*(?:[\[{(<]|%[A-Za-z_]+%|%[({]|\$[A-Za-z_]+$|\$[{(]|\*{2}|\.{3})")
_COMMON_WORDS = """
    string str text varchar char bytes int integer number bool boolean object array list dict any null none nil
    undefined true false yes no empty optional required missing invalid valid wrong incorrect correct expired
    hidden redacted masked secret password passwd passphrase token value key apikey changeme placeholder example
    todo tbd unknown default forgotten protected encrypted hashed obligatoire requis requise incorrecte invalide
    oublié erforderlich falsch ungültig requerido requerida incorrecta self this env environ config settings
    vault input prompt
"""
_WORDS = frozenset(_COMMON_WORDS.split())
_INVITATION = re.compile(
    r"(?i)(?:your|my|the|some|insert|enter|replace|put|ton|votre|ihr|dein|tu|su)[_\- ].*|.*[_\- ](?:here|ici|hier"
    r"|goes)|[xX][xX_\-]{2,}|[*•.·_\-x]+"
)
_ENV = re.compile(
    r"(?:process\.env|os\.environ|os\.getenv|getenv|env|secrets|vars|var|local|data|self|this|config|settings"
    r"|params|args|request|req)[.\[(].*"
)
_CAPITALS = re.compile(r"[A-Z]+(?:_[A-Z]+)+")


def is_placeholder(value: str) -> bool:
    """True if `value` shows where a secret goes, and is none itself."""
    return bool(
        _WRAPPED.match(value)
        or value.lower().strip(".,;:!?\"'") in _WORDS
        or _INVITATION.fullmatch(value)
        or _ENV.fullmatch(value)
        or _CAPITALS.fullmatch(value)
    )
