"""State as a stack of layers: what a run has committed, and over it what the items of concurrent loops have written.

A layer answers reads from itself first, then from the one below. Its writes are decided in `wf_core.runtime.patches`;
here is only how they are kept, so that an append to a list of n elements does not cost n:

- A list that this layer made itself, and that nobody else holds, is appended to in place (`owned`). As soon as it is
  handed out by reference, it is `exposed` and the next append copies it once.
- In an upper layer, appends to a list of the layer below are only noted (`lazy`) until somebody reads the field.
"""

from dataclasses import dataclass, field

from wf_core.jsonvalue import JsonValue
from wf_core.paths import MISSING, Missing, Segments, lookup

Write = tuple[Segments, str, JsonValue]
"""State path (without `state`), reducer, and the incoming value."""


@dataclass(slots=True)
class Layer:
    """State as one frame sees it. `log` is None in the layer of what is committed."""

    values: dict[str, JsonValue]
    """Field -> value, of the fields that this layer holds itself."""
    parent: "Layer | None" = None
    log: list[Write] | None = None
    """Every write of this layer in order, to be reduced into the layer below when the loop ends."""
    lazy: dict[str, dict[Segments, list[JsonValue]]] = field(default_factory=dict[str, dict[Segments, list[JsonValue]]])
    """Field -> list -> elements appended to it that `values` does not show yet."""
    owned: set[Segments] = field(default_factory=set[Segments])
    """Lists that may be appended to in place."""

    def field(self, name: str) -> JsonValue | Missing:
        """Give the value of a top-level field, MISSING where it has none. Not to be kept: see `expose`."""
        layer: Layer | None = self
        while layer is not None:
            if layer.lazy and name in layer.lazy:
                layer.catch_up(name)
            value = layer.values.get(name, MISSING)
            if not isinstance(value, Missing):
                return value
            layer = layer.parent
        return MISSING

    def whole(self) -> dict[str, JsonValue]:
        """Give the whole state, a new object whose values are exposed."""
        if self.parent is None:
            self.owned.clear()
            return dict(self.values)
        merged = self.parent.whole()
        for name in list(self.lazy):
            self.catch_up(name)
        self.owned.clear()
        merged.update(self.values)
        return merged

    def expose(self, name: str) -> None:
        """Note that containers of this field are held elsewhere from now on."""
        layer: Layer | None = self
        while layer is not None:
            if layer.owned:
                layer.owned = {path for path in layer.owned if path[0] != name}
            layer = layer.parent

    def replace(self, name: str, value: JsonValue) -> None:
        """Give a top-level field another value."""
        self.values[name] = value
        self.lazy.pop(name, None)
        if self.owned:
            self.owned = {path for path in self.owned if path[0] != name}

    def append(self, path: Segments, value: JsonValue) -> None:
        """Append to the list at `path`, which is known to be one."""
        if path[0] not in self.values:
            self.lazy.setdefault(path[0], {}).setdefault(path, []).append(value)
        else:
            self._list_to_append(path).append(value)

    def length(self, path: Segments) -> int | None:
        """Give the length of the list at `path`, without showing noted appends; None where there is no list."""
        name = path[0]
        if self.parent is not None and name not in self.values:
            below = self.parent.length(path)
            return None if below is None else below + len(self.lazy.get(name, {}).get(path, ()))
        value: JsonValue | Missing = self.values.get(name, MISSING)
        if not isinstance(value, Missing):
            value = lookup(value, path[1:])
        return len(value) if isinstance(value, list) else None

    def _list_to_append(self, path: Segments) -> list[JsonValue]:
        """Give the list at `path` of this layer's own field, made ours if it was not."""
        holder: dict[str, JsonValue] = self.values
        if path in self.owned:
            for segment in path[:-1]:
                holder = _object(holder[segment])
            return _array(holder[path[-1]])
        for segment in path[:-1]:
            copied = dict(_object(holder[segment]))
            holder[segment] = copied
            holder = copied
        ours = list(_array(holder[path[-1]]))
        holder[path[-1]] = ours
        self.owned.add(path)
        return ours

    def catch_up(self, name: str) -> None:
        """Show the appends that were only noted."""
        noted = self.lazy.pop(name)
        if self.parent is None:
            raise AssertionError("only an upper layer notes appends")
        below = self.parent.field(name)
        if isinstance(below, Missing):
            raise AssertionError(f"nothing to append to at {name}")
        self.values[name] = below
        for path, elements in noted.items():
            self._list_to_append(path).extend(elements)


def _object(value: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise AssertionError("a list was found below this path before")
    return value


def _array(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise AssertionError("a list was found at this path before")
    return value
