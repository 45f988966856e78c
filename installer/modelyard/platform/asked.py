"""What a command is asked for: components, the target, and where images come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelyard.catalog import Catalog
    from modelyard.catalog.choice import Composition
    from modelyard.images import Mirror
    from modelyard.plan.recreate import Named

DEFAULT_TARGET = "local"
__all__ = ["DEFAULT_TARGET", "Asked", "Named", "ValuesFile", "read_values_file", "to_recreate"]


@dataclass(frozen=True, slots=True)
class ValuesFile:
    """What a site sets, as read: it may be a pipe, which can be read once.

    Args:
        shown: the file's name.
        text: its content.
    """

    shown: str
    text: str


def read_values_file(path: Path) -> ValuesFile:
    """Read a site's file of values.

    Raises:
        CatalogError: it is missing, too big, or not UTF-8.
    """
    from modelyard.catalog.yaml_file import read_text

    return ValuesFile(str(path), read_text(path, str(path)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is said of components, and of where their images come from.

    Args:
        target: --target; None: that of the overlay, else what the command takes by default.
        overlay: --overlay, a folder of the user's own.
        profile: --profile.
        added: --with.
        left_out: --without.
        components: --component: these alone.
        no_overlay: take back the overlay that the cluster was installed with.
        mirror: the registry from which images are pulled.
        no_mirror: take back the mirror that the cluster was installed from.
        values: --values, what the site sets.
        no_values: take back the values that the cluster was installed with.
        adopted: objects and components that may be taken over.
        recreate: objects that may be deleted and created again.
    """

    target: str | None
    overlay: Path | None
    profile: str | None
    added: tuple[str, ...]
    left_out: tuple[str, ...]
    components: tuple[str, ...]
    no_overlay: bool = False
    mirror: Mirror | None = None
    no_mirror: bool = False
    values: ValuesFile | None = None
    no_values: bool = False
    adopted: tuple[str, ...] = ()
    recreate: tuple[Named, ...] = ()

    def open(self, catalog: Catalog) -> tuple[Catalog, str]:
        """Return the catalogue with the overlay in it, and the target's name; all names that were given exist.

        Raises:
            CatalogError: one of them does not, or the overlay is malformed or on another target, or a value of the
                site does not fit.
        """
        from modelyard.catalog import with_overlay
        from modelyard.catalog.choice import check_names
        from modelyard.errors import CatalogError

        target = self.target or DEFAULT_TARGET
        if self.overlay is not None:
            catalog = with_overlay(catalog, self.overlay)
            assert catalog.overlay is not None
            own = catalog.overlay.target
            if self.target not in (None, own.name, own.base):
                raise CatalogError(
                    f"overlay {self.overlay}",
                    f"is on target {own.base}, not on {self.target}",
                    f"leave --target away, or change `base` in {self.overlay / 'target.yaml'}",
                )
            target = own.name
        catalog.target(target)
        for name in self.components:
            catalog.component(name)
        check_names(catalog.components, added=self.added, left_out=self.left_out)
        if self.profile is not None:
            catalog.listed(target, self.profile)
        self.site_values(catalog, target)
        return catalog, target

    def site_values(self, catalog: Catalog, target: str) -> dict[str, str]:
        """Return what the site sets, by <component>.<name>.

        Raises:
            CatalogError: the file is not valid, or the target has no such value.
        """
        from modelyard.catalog.values import flat
        from modelyard.catalog.values_file import values_in

        if self.values is None:
            return {}
        return flat(values_in(self.values.text, catalog.inherited(target).values, shown=self.values.shown))

    def compose(self, catalog: Catalog, target: str) -> Composition:
        """Return the components that the options alone come to; without --profile, of all profiles."""
        from modelyard.catalog.choice import Composition, compose

        if self.components:
            return Composition(self.components, {})
        listed = catalog.listed(target, self.profile)
        return compose(listed, catalog.requires, added=self.added, left_out=self.left_out)


def to_recreate(text: str) -> Named:
    """Return the object that KIND/[NAMESPACE/]NAME names.

    Raises:
        ValueError: it names none.
    """
    from modelyard.plan.recreate import named

    return named(text)
