"""From references in TypeScript and JavaScript to the definitions that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.semantic.code.model import Reference, ReferenceKind
from services.semantic.code.scripts.kinds import Value, ValueKind
from services.semantic.code.scripts.values import Values

_TYPES: Final = (ReferenceKind.REFERENCES, ReferenceKind.INHERITS)


def meant_by(values: Values, path: str, reference: Reference) -> Sequence[Value] | None:
    """Definitions that a reference means, none where they are outside of the repository.

    None: the file does not say, and the name alone may tell.
    """
    name, scope = reference.name, reference.source
    qualifier = reference.qualifier.removesuffix("!")
    if qualifier == "?":
        return None
    values.begin()
    if reference.kind in _TYPES:
        found = values.type_named(path, scope, f"{qualifier}.{name}" if qualifier else name)
        wanted = ValueKind.OBJECT
    else:
        wanted = ValueKind.DEFINITION
        found = values.named(path, scope, name)
        if qualifier:
            found = values.member(values.of(path, scope, qualifier.replace("?.", ".")), name)
        elif found and found[0].kind is ValueKind.MODULE:  # "const Shop = require('./shop')"
            found = values.exported(found[0].files, name, 0, {}) or values.default_of(found[0].files) or found
    if not found and qualifier == reference.qualifier:
        return None
    return [one for one in found if one.kind is wanted][:1]
